#pragma D option quiet


BEGIN
{
	printf("a pipe keeps its data\n");
	ftruncate();
	exit(0);
}
