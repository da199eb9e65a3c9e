#pragma D option strsize=8
string s[2];
BEGIN
{
	/* strsize characters fit an element, its neighbours are not touched */
	s[0] = "0123456789";
	s[1] = "xyz";
	printf("[%s][%s]\n", s[0], s[1]);
	s[1] = "";
	printf("[%s][%s]\n", s[0], s[1]);
	exit(0);
}
