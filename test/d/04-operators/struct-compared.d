struct s { int a; } v;
BEGIN { trace(v == v); exit(0); }
