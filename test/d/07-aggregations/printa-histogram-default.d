#pragma D option quiet

BEGIN
{
	@ = quantize(1);
	printa(@);
	exit(0);
}
