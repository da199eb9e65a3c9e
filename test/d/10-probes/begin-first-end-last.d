#pragma D option quiet

int n;

END
{
	printf("end\n");
}
tick-1ms
{
	n++;
}
tick-1ms
/n == 3/
{
	printf("tick\n");
	exit(0);
}
BEGIN
{
	printf("begin\n");
}
