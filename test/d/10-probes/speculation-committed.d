#pragma D option quiet


BEGIN
{
	sid = speculation();
	printf("id %d\n", sid);
}
BEGIN
{
	speculate(sid);
	printf("speculative one\n");
}
BEGIN
{
	printf("not speculative\n");
}
BEGIN
{
	speculate(sid);
	printf("speculative two\n");
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
