#pragma D option quiet

BEGIN
/0/
{
	@a = count();
}
BEGIN
{
	printa("none %@d\n", @a);
	printf("[");
	printa(@a);
	printf("]\n");
	exit(0);
}
