#pragma D option quiet


/* What a branch stores is seen behind it, on either way. */
string s;
int m[int];

BEGIN
{
	s = "old";
	m[1] = 1;
	printf("%s %d\n", s, m[1]);
	if (m[1] == 1) {
		s = "new";
		m[1] = 2;
		printf("%s %d\n", s, m[1]);
	} else {
		s = "other";
	}
	printf("%s %d\n", s, m[1]);
	if (m[1] == 1)
		s = "wrong";
	else
		m[1]++;
	printf("%s %d\n", s, m[1]);
	exit(0);
}
