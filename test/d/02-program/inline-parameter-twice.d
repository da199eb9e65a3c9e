inline int f[int a, int a] = a;
BEGIN
{
}
