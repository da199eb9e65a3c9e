#pragma D option quiet
#pragma D option agghist
struct s { char a; char b; } *p;
BEGIN { p = alloca(sizeof (struct s)); p->a = 1; p->b = 0x7f; @[*p] = sum(2); exit(0); }
