#pragma D option quiet

unsigned int z;

BEGIN
{
	trace(1 / z);
}
BEGIN
{
	exit(0);
}
