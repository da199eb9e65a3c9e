#pragma D option quiet


int n;

tick-1ms
/n < 10/
{
	if (n % 3 == 0)
		@third = count();
	else
		@other = sum(n);
	n++;
}
tick-1ms
/n >= 10/
{
	printa("%@d ", @third);
	printa("%@d\n", @other);
	exit(0);
}
