/* A string and an integer: the rest of the string, from there. */
#pragma D option quiet
string s;
BEGIN
{
	s = "hello";
	this->t = s + 1;
	printf("%s %s %s [%s]\n", "hello" + 2, s + 1, 1 + s, s + 5);
	printf("%d %s %s\n", strlen(s + 2), strjoin(s + 3, "!"), s + 1 + 1);
	printf("%d %d %s\n", s + 2 == "llo", "b" < s + 1, this->t);
	printf("%c %s %s\n", *(s + 4), stringof(s + 3), probename + 3);
	@[s + 3] = count();
	printa("%s %@d\n", @);
	trace(s + 4);
	exit(0);
}
