struct s { int a:2; } v;
BEGIN { x = &v.a; exit(0); }
