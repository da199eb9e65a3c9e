string s[2];
BEGIN
{
	s[0] = "a";
	s[1] = "b";
	this->t = s[0];
	s[0] = s[1];
	s[1] = this->t;
	printf("%s%s\n", s[0], s[1]);
	s[0] = strjoin(s[1], s[1]);
	s[0] = substr(s[0], 1);
	printf("%s%s\n", s[0], s[1]);
	exit(0);
}
