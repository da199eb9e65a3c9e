self this int a;
typedef self int b;
extern static int c;
inline self int d = 1;
self inline int e = 1;
int f(self int x);
int g(static int x);
struct s { self int x; };
BEGIN { x = (self int)1; }
