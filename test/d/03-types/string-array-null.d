/* an element is memory, which cannot be NULL */
string s[2];
BEGIN
{
	s[0] = "x";
	s[0] = NULL;
	printf("[%s]\n", s[0]);
	exit(0);
}
