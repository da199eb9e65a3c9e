#pragma D option quiet
int a[4];
int i;
ERROR { printf("%d %d\n", arg4, arg5); }
BEGIN { i = 4; a[i] = 1; }
BEGIN { i = -1; trace(a[i]); }
BEGIN { i = 3; a[i] = 6; printf("%d\n", a[i]); exit(0); }
