BEGIN { trace(08); }
BEGIN { trace(0778); }
BEGIN { trace(019ul); }
