BEGIN
{
#ifdef A
	printf("A is there\n");
#endif
	printf("%d %d\n", B, C);
	exit(0);
}
