BEGIN
{
	printf("%d\n", __STDC_VERSION__);
	exit(0);
}
