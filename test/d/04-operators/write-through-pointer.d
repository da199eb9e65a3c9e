/* Where a pointer leads to is seen when the clause runs. */
#pragma D option quiet
struct s { int a; char n[4]; } *sp;
int *v;
string *t;
BEGIN { *v = 1; }
BEGIN { v[3]++; }
BEGIN { sp->a = 1; }
BEGIN { sp->n[1] = 'x'; }
BEGIN { *t = "x"; }
BEGIN { *sp = *sp; }
ERROR { printf("%d\n", arg4); }
BEGIN { exit(0); }
