struct s { int a; } v;
BEGIN { x = (int)v; exit(0); }
