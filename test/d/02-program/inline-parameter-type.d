inline int f[string s] = strlen(s);

BEGIN
{
	x = f[1];
}
