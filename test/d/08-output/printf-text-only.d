#pragma D option quiet

BEGIN
{
	printf("no conversion %% at all\n");
	exit(0);
}
