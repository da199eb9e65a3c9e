#pragma D option quiet


int zero;

BEGIN
{
	printf("before\n");
	if (1 / zero)
		printf("no\n");
	else
		printf("no either\n");
	printf("not after\n");
}
BEGIN
{
	printf("next clause\n");
	exit(0);
}
