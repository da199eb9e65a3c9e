#pragma D option quiet

enum e { ONE = 1, TWO } v[2];

BEGIN
{
	v[0] = TWO;
	v[1] = (enum e)9;
	print(&v[0]);
	print(&v[1]);
	exit(0);
}
