#pragma D option quiet /* x */
BEGIN
{
	exit(0);
}
