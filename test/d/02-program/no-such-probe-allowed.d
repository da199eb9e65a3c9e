#pragma D option quiet

dtrace:::NOPE
{
	x = 1;
}
BEGIN
{
	printf("ok\n");
	exit(0);
}
