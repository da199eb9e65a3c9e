#pragma D option quiet

BEGIN
{
	@ = count();
}
BEGIN
{
	@ = count();
	exit(0);
}
END
{
	@ = count();
}
