int a[3], b[3];
char c[4];
struct s { int n[2]; } v;
self int t[2];
BEGIN { a = b; }
BEGIN { a = 0; }
BEGIN { c = "abc"; }
BEGIN { v.n = a; }
BEGIN { x = a; }
BEGIN { self->t = a; }
BEGIN { a += 1; }
