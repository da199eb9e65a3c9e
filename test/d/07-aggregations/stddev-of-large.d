#pragma D option quiet

BEGIN
{
	@ = stddev(0x4000000000000000);
	@ = stddev(-0x4000000000000000);
	exit(0);
}
