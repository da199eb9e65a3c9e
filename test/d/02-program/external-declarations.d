/* External symbols may be declared; there is nothing here that they could be. */
#pragma D option quiet
int f(int), g(void), h(const char *fmt, ...);
extern int v;
extern struct s *p;

BEGIN
{
	printf("ok\n");
	exit(0);
}
