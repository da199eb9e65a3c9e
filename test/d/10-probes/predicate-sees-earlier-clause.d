#pragma D option quiet

BEGIN
{
	flag = 1;
}
BEGIN
/flag/
{
	printf("seen\n");
	exit(0);
}
