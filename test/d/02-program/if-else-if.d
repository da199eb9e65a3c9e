#pragma D option quiet


int n;

tick-1ms
{
	if (n == 0)
		printf("zero\n");
	else if (n == 1)
		printf("one\n");
	else if (n == 2) {
		printf("two\n");
	} else
		printf("many\n");
	n++;
}
tick-1ms
/n == 4/
{
	exit(0);
}
