this int a[int];
int b[int][int];
int c[4][int];
int d[int][4][string];
struct s { int m[string]; };
typedef int t[int];
int e[void];
