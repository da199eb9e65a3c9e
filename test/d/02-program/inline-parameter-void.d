inline int f[void a] = 1;
BEGIN
{
}
