inline int answer = 6 * 7;
inline string name = "D";

int n;
inline int twice = n * 2;

#pragma D option quiet

BEGIN
{
	n = 4;
	printf("%d %s %d", answer, name, twice);
	n = 5;
	printf(" %d\n", twice);
	exit(0);
}
