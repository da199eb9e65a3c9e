#pragma D option quiet
#pragma D option nspec=4


/* What decides is known at the end of the request only. */
int n;

tick-1ms
{
	n++;
	self->id = speculation();
}
tick-1ms
{
	speculate(self->id);
	printf("request %d\n", n);
}
tick-1ms
{
	if (n == 2)
		commit(self->id);
	else
		discard(self->id);
}
tick-1ms
/n == 4/
{
	exit(0);
}
