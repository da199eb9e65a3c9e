BEGIN,
{
	exit(0);
}
BEGIN END
{
	exit(0);
}
,BEGIN
{
	exit(0);
}
