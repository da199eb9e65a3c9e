struct s { int a:2; } v;
BEGIN { trace(sizeof (v.a)); exit(0); }
