#pragma D option quiet

BEGIN
{
	sid = speculation();
}
BEGIN
{
	x = 1;
	speculate(sid);
	y = x + 1;
	printf("%d\n", y);
}
BEGIN
{
	commit(sid);
}
BEGIN
{
	exit(0);
}
