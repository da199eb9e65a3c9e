/* A NULL string can be compared and assigned; anything else that looks at it faults. */
#pragma D option quiet
string s;
self string t;
int kinds, addresses;
BEGIN { trace(self->t); }
BEGIN { s = NULL; trace(s); }
BEGIN { printf("%s\n", s); }
BEGIN { n = strlen(s); }
BEGIN { s = strjoin("a", self->t); }
BEGIN { n = self->t[0]; }
BEGIN { m = 1; s = self->t; m = 2; }
ERROR { kinds += arg4; addresses += arg5; }
END { printf("%d %d %d %d\n", kinds, addresses, m, s == NULL); }
BEGIN { exit(0); }
