/* The result has the type of the operand with more bits; there is no promotion to int. */
#pragma D option quiet
char c;
short h;
int i;
long l;
BEGIN
{
	printf("%d %d %d %d\n", sizeof (c + c), sizeof (c + h), sizeof (h * i), sizeof (i - l));
	printf("%d %d %d %d\n", sizeof (c & c), sizeof (h | c), sizeof (i ^ h), sizeof (c / l));
	printf("%d %d %d\n", sizeof (-c), sizeof (~h), sizeof (+c));
	printf("%d %d %d\n", sizeof (c == l), sizeof (!l), sizeof (l && l));
	printf("%d %d\n", sizeof (c + 1), sizeof (c + 'a'));
	printf("%d %d\n", sizeof (c + 1L), sizeof (1 ? c : l));
	exit(0);
}
