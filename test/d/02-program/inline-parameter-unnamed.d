inline int f[int] = 1;
BEGIN
{
}
