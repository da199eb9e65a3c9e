#pragma D option quiet


int n;

BEGIN
{
	if (n++ == 0) {
		printf("n is %d\n", n);
		n = 10;
		printf("still here\n");
	} else {
		printf("no\n");
	}
	printf("n is %d\n", n);
	exit(0);
}
