/* The actions are checked before the predicate, so they create what it reads; but it runs first. */
#pragma D option quiet
tick-1ms
/n < 2 && !last/
{
	n++;
	last = n == 5;
	printf("%d ", n);
}

tick-1ms
/n == 2/
{
	printf("end\n");
	exit(0);
}
