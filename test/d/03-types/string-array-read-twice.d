string s[2];
BEGIN
{
	s[0] = "a";
	i = 0;
	printf("%s", s[i]);
	s[i] = "b";
	printf("%s", s[i]);
	s[0] = "c";
	printf("%s %d %d\n", s[i], s[i] == "c", s[i] == s[i + 1]);
	exit(0);
}
