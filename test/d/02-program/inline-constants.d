#pragma D option quiet
inline int SIZE = 4 * 2;
inline int TWICE = SIZE * 2;
int a[SIZE];
enum e { E = TWICE };
struct s { int b:SIZE; };
BEGIN
{
	printf("%d %d %d\n", sizeof (a), E, TWICE);
	exit(0);
}
