#pragma D option quiet

BEGIN
{
	printf("x\n");
	exit(0)
}
