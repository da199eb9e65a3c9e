string s[2];
BEGIN
{
	s[1] = "abc";
	printf("%c %d\n", s[1][1], strlen(s[1]));
	exit(0);
}
