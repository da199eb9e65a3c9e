/* strsize is the number of characters; the NUL comes on top. */
#pragma D option strsize=6
#pragma D option quiet
string s;
BEGIN
{
	s = "123456789";
	printf("%s %d %d\n", s, strlen(s), sizeof (s));
	this->t = strjoin("1234", "5678");
	printf("%s\n", this->t);
	a["k"] = "abcdefgh";
	printf("%s %d\n", a["k"], a["k"] == "abcdef");
	exit(0);
}
