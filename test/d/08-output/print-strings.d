string s[3];
BEGIN
{
	s[0] = "abc";
	s[2] = "x\"y";
	print(s);
	print(&s[2]);
	exit(0);
}
