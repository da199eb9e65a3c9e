struct s { int a; } v;
string str;
int a[2];
void *vp;
struct nosuch *np;
BEGIN { 5++; }
BEGIN { --(v.a + 1); }
BEGIN { str++; }
BEGIN { v++; }
BEGIN { a--; }
BEGIN { ++vp; }
BEGIN { np--; }
BEGIN { ++timestamp; }
BEGIN { pid--; }
BEGIN { strlen++; }
