inline int f[int a] = a + 1;

BEGIN
{
	f[1] = 2;
}
