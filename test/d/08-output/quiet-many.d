#pragma D option quiet

BEGIN
{
	printf("a");
}
BEGIN
{
	printf("b");
	printf("c\n");
}
BEGIN
{
	trace(7);
	trace("\n");
	exit(0);
}
