#pragma D option quiet

BEGIN
{
	printf("%d %d\n", OLD, strlen("x"));
	NEW = 77;
	before = 76;
	index = 78;
	printf("%d %d %d\n", NEW, before, index);
	exit(0);
}
