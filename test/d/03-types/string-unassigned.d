/* Never assigned: a global or clause-local string is empty, a thread-local or an element is NULL. */
#pragma D option quiet
string g;
this string c;
self string t;
string a[int];
self string b[int];
BEGIN
{
	printf("%d %d\n", g == "", g == NULL);
	printf("%d %d\n", this->c == NULL, strlen(g));
	printf("%d %d %d\n", self->t == NULL, a[1] == NULL, self->b[2] == NULL);
	printf("[%s]\n", g);
	exit(0);
}
