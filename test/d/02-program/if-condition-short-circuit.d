#pragma D option quiet


int zero;

BEGIN
{
	if (zero != 0 && 1 / zero)
		printf("no\n");
	if (zero == 0 || 1 / zero)
		printf("yes\n");
	if (!(zero ^^ 1))
		printf("no\n");
	exit(0);
}
