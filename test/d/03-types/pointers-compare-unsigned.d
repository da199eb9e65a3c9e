#pragma D option quiet
char *p, *q;
BEGIN
{
	p = (char *)-1;
	q = (char *)1;
	printf("%d %d %d %d\n", p > q, p < q, p == (char *)-1, q != NULL);
	printf("%d %d\n", p >= (void *)0, NULL < q);
	exit(0);
}
