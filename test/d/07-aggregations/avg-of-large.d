#pragma D option quiet

BEGIN
{
	@ = avg(0x4000000000000000);
	@ = avg(-0x4000000000000000);
	@ = avg(6);
	exit(0);
}
