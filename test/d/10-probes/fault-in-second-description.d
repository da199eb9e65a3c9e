#pragma D option quiet

int z;

BEGIN, END
{
	z = 1 / z;
}
BEGIN
{
	exit(0);
}
