#pragma D option quiet
string s;
BEGIN
{
	printf("%d %d %d\n", sizeof (s), sizeof (string), sizeof ("abc"));
	exit(0);
}
