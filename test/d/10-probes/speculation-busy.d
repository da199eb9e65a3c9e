#pragma D option quiet


/* An sid that has been committed is free only when the consumer has drained it. */
int n, sid, again;

BEGIN
{
	sid = speculation();
}
BEGIN
{
	commit(sid);
}
BEGIN
{
	again = speculation();
	printf("%d\n", again);
}
tick-10ms
{
	again = speculation();
}
tick-10ms
/again != 0/
{
	printf("%d\n", again);
	exit(0);
}
