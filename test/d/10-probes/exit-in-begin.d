#pragma D option quiet

tick-1ms
{
	printf("never\n");
}
BEGIN
{
	exit(0);
}
END
{
	printf("end\n");
}
