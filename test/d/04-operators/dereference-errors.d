struct s { int a; } v;
void *vp;
int (*fp)(int);
struct nosuch *np;
BEGIN { x = *5; }
BEGIN { x = *v; }
BEGIN { x = *vp; }
BEGIN { x = *fp; }
BEGIN { x = *np; }
BEGIN { x = *arg0; }
BEGIN { x = *"text"; trace(x); }
