#pragma whatever
#pragma D option quiet

BEGIN
{
	printf("ignored\n");
	exit(0);
}
