BEGIN
{
	printf("%d\n", __STDC_VERSION__); // a comment of C99
	exit(0);
}
