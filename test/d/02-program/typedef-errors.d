typedef int t;
typedef char t;
int v;
typedef int v;
typedef int pid;
typedef int u = 5;
typedef int w`x;
int t;
typedef int t;
