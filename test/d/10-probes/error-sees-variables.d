#pragma D option quiet

/* ERROR fires on the thread of the fault: its thread-local and clause-local variables. */
int z;

BEGIN
{
	self->t = 7;
	g = 8;
	trace(1 / z);
}
ERROR
{
	printf("%d %d\n", self->t, g);
	exit(0);
}
