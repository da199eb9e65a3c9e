#pragma D option quiet


int zero;

BEGIN
{
	printf("before\n");
	if (zero == 0) {
		printf("not shown: its sub-clause faults\n");
		x = 1 / zero;
	}
	printf("not after\n");
}
BEGIN
{
	printf("next clause, x is %d\n", x);
	exit(0);
}
