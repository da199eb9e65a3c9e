/* What is traced is on one stream, what is said about the trace on the other. */
int z;

BEGIN
{
	printf("out\n");
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	exit(0);
}
