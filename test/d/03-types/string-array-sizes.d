string s[4];
BEGIN
{
	printf("%d %d\n", sizeof (s), sizeof (s[0]));
	exit(0);
}
