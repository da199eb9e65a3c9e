/* They are constants: dimensions, enumerators, folded. */
#pragma D option quiet

int a[SIGTERM];
enum which { FIRST = EINTR, SECOND };
inline int TWICE = 2 * SIGKILL;

BEGIN
{
	printf("%d %d %d\n", sizeof (a), SECOND, TWICE);
	printf("%d\n", EPERM ? 1 : 1 / 0);
	exit(0);
}
