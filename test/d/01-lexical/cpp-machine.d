BEGIN
{
#ifdef __x86_64__
	printf("%d\n", __amd64);
#else
	printf("1\n");
#endif
	exit(0);
}
