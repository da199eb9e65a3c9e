int a[0];
int b[-1];
int c["x"];
int d[pid];
int e[];
int f[2][];
char g[4294967296];
int h[4 - 4];
