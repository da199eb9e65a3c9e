/* A constant index is checked against dimensions above 1; others are checked when they are used. */
#pragma D option quiet
int a[4], one[1];
int i;
BEGIN { a[3] = 5; printf("%d\n", a[3]); }
BEGIN { x = one[5]; }
BEGIN { i = 4; a[i] = 1; }
BEGIN { i = -1; x = a[i]; }
ERROR { n++; printf("%d %d\n", arg4, arg5); }
BEGIN { exit(0); }
