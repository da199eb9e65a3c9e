string g;
self string s;
string a[int];
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", g == "", g == NULL, self->s == NULL, a[1] == NULL);
	exit(0);
}
