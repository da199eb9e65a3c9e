struct s { int a; } v;
BEGIN { trace(v.b); exit(0); }
