#pragma D option quiet
int a, b;
BEGIN
{
	a = 19;
	b = 5;
	printf("%d %d %d %d\n", a / b, -a / b, a / -b, -a / -b);
	printf("%d %d %d %d\n", a % b, -a % b, a % -b, -a % -b);
	printf("%d %d\n", (char)-100 / (char)7, (unsigned)-1 / 2);
	exit(0);
}
