BEGIN
{
	printf("%d\n", 1);
	exit(0);
}
END
{
#pragma D option quiet
	printf("end\n");
}
