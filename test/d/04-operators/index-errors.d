int a[3], x, *ip;
void *vp;
struct s { int a; } v;
struct nosuch *np;
BEGIN { y = a[1, 2]; }
BEGIN { y = x[1]; }
BEGIN { y = v[1]; }
BEGIN { y = vp[1]; }
BEGIN { y = np[1]; }
BEGIN { y = a["x"]; }
BEGIN { y = ip[1, 2]; }
BEGIN { this->l[1] = 1; }
BEGIN { y = a[]; }
BEGIN { y = pid[1]; }
