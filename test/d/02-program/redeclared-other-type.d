int x;
long x;
int a[string];
int a[int];
int a;
self int s;
self uint_t s;
int v[3];
int v[4];
int *p;
char *p;
BEGIN { made = "text"; }
int made;
