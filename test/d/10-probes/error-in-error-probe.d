#pragma D option quiet

int z;

ERROR
{
	z = 1 / z;
}
BEGIN
{
	z = 1 / z;
}
BEGIN
{
	exit(0);
}
