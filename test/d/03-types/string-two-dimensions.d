string s[2][2];
BEGIN
{
	s[1][0] = "a";
	s[1][1] = "b";
	printf("%s%s%s\n", s[1][0], s[1][1], s[0][1]);
	exit(0);
}
