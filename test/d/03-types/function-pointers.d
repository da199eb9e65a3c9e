/* All pointers to functions are of one type. */
#pragma D option quiet
int (*f)(int);
void (*g)(void);
char *(*h[2])(char *, ...);
BEGIN
{
	f = g;
	h[1] = f;
	printf("%d %d %d\n", f == g, sizeof (h), h[1] == NULL);
	exit(0);
}
