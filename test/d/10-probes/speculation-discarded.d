#pragma D option quiet


BEGIN
{
	sid = speculation();
}
BEGIN
{
	speculate(sid);
	printf("never\n");
}
BEGIN
{
	discard(sid);
}
BEGIN
{
	commit(sid);
}
BEGIN
{
	printf("after\n");
	exit(0);
}
