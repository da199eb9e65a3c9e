#pragma D option quiet

BEGIN
/0/
{
	printf("no\n");
}

BEGIN
/1 == 1 && 2 > 1/
{
	printf("yes\n");
}

BEGIN
/-1/
{
	printf("also\n");
	exit(0);
}
