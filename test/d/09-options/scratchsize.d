/* 256 bytes are the default; with more, alloca() has more. */
#pragma D option quiet
#pragma D option scratchsize=1k
char *p;
BEGIN { p = alloca(1000); p[999] = 'x'; printf("%c\n", p[999]); exit(0); }
