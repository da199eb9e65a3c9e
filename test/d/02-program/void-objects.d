void a;
self void b;
void c[2];
struct s { void d; };
BEGIN { x = (void)1; }
void e[int];
inline void f = 1;
