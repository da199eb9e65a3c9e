string s;

BEGIN
{
	if (s = "x")
		exit(0);
}
