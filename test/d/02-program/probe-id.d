#pragma D option quiet

1
{
	printf("%s %d\n", probename, id);
	exit(0);
}
