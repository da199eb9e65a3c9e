struct s { int b:3; } v;
BEGIN { x = sizeof (void); }
BEGIN { x = sizeof v.b; }
BEGIN { x = sizeof (struct nosuch); }
BEGIN { x = sizeof; }
BEGIN { x = sizeof (nosuch); }
BEGIN { x = sizeof ((void)1); }
