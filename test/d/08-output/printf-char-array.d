#pragma D option quiet

char n[8];
char full[3];

BEGIN
{
	n[0] = 'h';
	n[1] = 'i';
	full[0] = 'a';
	full[1] = 'b';
	full[2] = 'c';
	printf("%s|%5s|%S|%s|\n", n, n, n, full);
	exit(0);
}
