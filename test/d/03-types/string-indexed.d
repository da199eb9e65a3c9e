/* s[i] is a char, and s + i is a pointer to one. */
#pragma D option quiet
string s;
int i;
BEGIN
{
	s = "hello";
	i = 4;
	printf("%c %c %d %d\n", s[0], s[i], s[5], sizeof (s[0]));
	printf("%c %c %d\n", *(s + 1), *(i + s), sizeof (s + 1));
	printf("%s %s\n", stringof(s + 2), (string)(s + i));
	printf("%d %c\n", probename[0] == 'B', "xyz"[2]);
	exit(0);
}
