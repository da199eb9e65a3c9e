#pragma D option quiet

BEGIN
{
	a = "one";
	b = a;
	a = "two";
	printf("%s %s\n", a, b);
	exit(0);
}
