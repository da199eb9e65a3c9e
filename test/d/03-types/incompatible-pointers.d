int *p;
char *q;
struct s { int a; } v;
struct t { int a; } w;
BEGIN { p = q; }
BEGIN { p = 5; }
BEGIN { p = "text"; }
BEGIN { x = 1; x = p; }
BEGIN { v = w; }
BEGIN { v = 0; }
BEGIN { v = 1; }
BEGIN { p = v; }
BEGIN { y = 1 ? p : 0; y = q; }
