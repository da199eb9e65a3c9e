#pragma D option quiet
struct s { char a[3]; int b; } v;
string str;
int a[5], *p;
BEGIN
{
	printf("%d %d %d %d\n", sizeof (v), sizeof v.a, sizeof (a), sizeof a[0]);
	printf("%d %d %d %d %d\n", sizeof "abc", sizeof (""), sizeof (str), sizeof (string), sizeof (probename));
	printf("%d %d %d %d\n", sizeof p, sizeof *p, sizeof (char *), sizeof (int [3]));
	printf("%d %d %d\n", sizeof 1 + 1, sizeof (char) + 1, sizeof sizeof 'a');
	printf("%d %d\n", sizeof (sizeof (char)), -sizeof (char) < 0);
	printf("%d\n", sizeof (a[0] = 5));
	printf("%d\n", a[0]);
	exit(0);
}
