BEGIN { trace(1.5); }
BEGIN { trace(.5); }
BEGIN { trace(1e3); }
BEGIN { trace(10f); }
BEGIN { trace(2.5e-3); }
BEGIN { trace(1.); }
BEGIN { x = 1.5 + 2; }
