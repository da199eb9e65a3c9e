#pragma D option quiet


BEGIN
{
	sid = speculation();
}
BEGIN
{
	speculate(sid);
	printf("vanishes\n");
}
BEGIN
{
	exit(0);
}
