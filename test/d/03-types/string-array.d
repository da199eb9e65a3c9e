string s[4];
BEGIN
{
	s[0] = "zero";
	s[2] = "two";
	s[3] = s[0];
	s[0] = strjoin(s[0], "!");
	printf("[%s][%s][%s][%s]\n", s[0], s[1], s[2], s[3]);
	exit(0);
}
