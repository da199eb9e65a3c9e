#pragma D option quiet

BEGIN
{
	@ = count();
	exit(0);
}
END
{
	printf("last\n");
}
