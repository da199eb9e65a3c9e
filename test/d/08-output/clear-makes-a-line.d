BEGIN
{
	@ = count();
	trunc(@);
	clear(@);
}
BEGIN
{
	exit(0);
}
