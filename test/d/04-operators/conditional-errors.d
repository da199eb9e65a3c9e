struct s { int a; } v;
struct t { int a; } w;
int *p;
char *q;
BEGIN { x = arg0 ? 1 : "a"; }
BEGIN { x = arg0 ? v : w; }
BEGIN { x = arg0 ? p : q; }
BEGIN { x = arg0 ? p : 5; }
BEGIN { x = arg0 ? v : 0; }
BEGIN { arg0 ? printf("a") : printf("b"); }
BEGIN { arg0 ? 1 : exit(0); }
BEGIN { x = arg0 ? 1; }
