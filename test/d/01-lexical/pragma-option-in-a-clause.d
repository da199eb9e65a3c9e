BEGIN
{
	printf("quiet\n");
#pragma D option quiet
	exit(0);
}
