/* NULL is a string below all others, and equal to itself. */
#pragma D option quiet
string s, t;
self string n;
BEGIN
{
	s = NULL;
	t = "";
	printf("%d%d%d\n", s == NULL, s == t, s != t);
	printf("%d%d%d%d\n", s < t, s <= t, t > s, t < s);
	printf("%d%d\n", self->n == s, !(s > s));
	printf("%d%d\n", NULL == NULL, 0 == s);
	t = 0;
	printf("%d%d\n", s == t, s < t);
	exit(0);
}
