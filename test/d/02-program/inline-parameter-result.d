inline string f[int a] = a;
BEGIN
{
}
