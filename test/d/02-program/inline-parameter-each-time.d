#pragma D option quiet


/* The argument stands wherever the parameter does: it is evaluated each time. */
int n;
inline int both[int x] = x + x;

BEGIN
{
	printf("%d\n", both[n++]);
	printf("%d\n", n);
	exit(0);
}
