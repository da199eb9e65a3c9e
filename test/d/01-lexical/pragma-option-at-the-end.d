BEGIN
{
	printf("quiet\n");
	exit(0);
}
#pragma D option quiet
