#pragma D option quiet

tick-1ms
{
	self->n++;
}
tick-1ms
/self->n == 3/
{
	printf("3\n");
	exit(0);
}
