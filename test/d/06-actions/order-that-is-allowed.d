#pragma D option quiet

BEGIN
{
	sid = speculation();
	printf("one\n");
	discard(0);
}
BEGIN
{
	speculate(sid);
	discard(0);
	printf("two\n");
}
BEGIN
{
	x = 1;
	commit(sid);
	commit(0);
	discard(sid);
	y = x;
}
BEGIN
{
	exit(0);
}
