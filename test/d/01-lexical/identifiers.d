#pragma D option quiet

BEGIN
{
	_ = 1;
	_a9 = 2;
	A = 3;
	a = 4;
	very_long_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_9 = 5;
	printf("%d %d %d %d %d\n", _, _a9, A, a,
	    very_long_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_9);
	exit(0);
}
