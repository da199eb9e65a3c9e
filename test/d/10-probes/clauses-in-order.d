#pragma D option quiet

BEGIN
{
	n = 1;
	printf("1");
}
END
{
	printf("4\n");
}
BEGIN
/n == 1/
{
	n = 2;
	printf("2");
}
BEGIN
/n == 1/
{
	printf("never");
}
BEGIN
/n == 2/
{
	printf("3");
	exit(0);
}
