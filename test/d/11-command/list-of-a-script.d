BEGIN
{
	printf("not run\n");
}
nosuch:::probe
{
}
