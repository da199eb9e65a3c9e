BEGIN { x = trace(nosuch + 1); }
BEGIN { x = exit(); }
BEGIN { pid ? trace(nosuch2) : 1; }
BEGIN { trace(1), trace(nosuch3); }
BEGIN { x = trace(1); }
