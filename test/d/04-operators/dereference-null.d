#pragma D option quiet
struct s { int a; } *p;
ERROR { printf("%d %x\n", arg4, arg5); }
BEGIN { trace(*p); }
BEGIN { trace(p->a); }
BEGIN { trace(*(char *)16); }
BEGIN { exit(0); }
