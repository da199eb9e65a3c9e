int a(...);
int b(int, void);
int c(void, int);
int d(void x);
int e(int x, int x);
int f(int m[int]);
int g(int x,);
int h(nosuch y);
int i(int, ..., int);
