int a[4], m[2][3];
struct s { char n[8]; } v;
BEGIN { x = a[4]; }
BEGIN { x = a[-1]; }
BEGIN { x = m[1][3]; }
BEGIN { x = m[2][0]; }
BEGIN { v.n[8] = 'x'; }
inline int N = 5;
BEGIN { a[N] = 1; }
