void *vp;
int (*fp)(int);
int *ip;
char *cp;
struct nosuch *np;
BEGIN { vp++; }
BEGIN { x = vp + 1; }
BEGIN { x = fp + 1; }
BEGIN { x = ip + cp; }
BEGIN { x = ip - cp; }
BEGIN { x = 1 - ip; }
BEGIN { x = np + 1; }
BEGIN { x = ip * 2; }
BEGIN { x = ip + "a"; }
BEGIN { vp += 1; }
