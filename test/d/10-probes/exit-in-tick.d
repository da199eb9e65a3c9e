#pragma D option quiet

tick-1ms
{
	exit(4);
}
tick-1ms
{
	printf("never\n");
}
END
{
	printf("end\n");
}
