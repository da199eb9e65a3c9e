#pragma D option quiet

/* The source is not changed, and the result is a copy. */
string s, t;

BEGIN
{
	s = "a b";
	t = strtok(s, " ");
	printf("%s|%s|%s\n", t, strtok(NULL, " "), s);
	exit(0);
}
