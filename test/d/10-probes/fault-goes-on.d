#pragma D option quiet

/* With the next clause, of the same firing. */
int z;

BEGIN
{
	trace(1 / z);
}
BEGIN
/1 / z/
{
}
BEGIN
{
	printf("next\n");
	exit(0);
}
