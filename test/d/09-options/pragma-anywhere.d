BEGIN
{
	printf("quiet all the same\n");
	exit(0);
}
#pragma D option quiet
