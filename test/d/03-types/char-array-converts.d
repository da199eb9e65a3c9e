/* An array of char is a string in assignments, comparisons, %s and subroutines, up to its end. */
#pragma D option quiet
struct s { char n[3]; char rest; } v;
string t;
BEGIN
{
	v.n[0] = v.n[1] = v.n[2] = 'a';
	v.rest = 'z';
	t = v.n;
	made = v.n;
	printf("%s %s %s %d %d\n", t, made, v.n, strlen(v.n), v.n == "aaa");
	printf("%s %s %d\n", strjoin(v.n, "b"), substr(v.n, 1), index(v.n, "az"));
	m[v.n] = 4;
	printf("%d %d %d\n", m["aaa"], sizeof (made), sizeof (v.n));
	printf("%s\n", t == v.n ? v.n : "other");
	exit(0);
}
