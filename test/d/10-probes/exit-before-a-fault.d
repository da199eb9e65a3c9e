#pragma D option quiet

/* A fault takes the record of exit() with it, and its status; the trace has ended all the same. */
int z;

BEGIN
{
	exit(2);
	trace(1 / z);
}
BEGIN
{
	printf("never\n");
}
END
{
	printf("end\n");
}
