#pragma D option quiet

int z;

BEGIN
{
	@ = count();
	z = 1 / z;
}
BEGIN
{
	exit(0);
}
