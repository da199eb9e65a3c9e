#pragma D option quiet
extern int a[];
extern int f(int, char *);
extern char *g(int argc, char *argv[], ...);
extern int *p[], m[][4];
BEGIN { printf("x\n"); exit(0); }
