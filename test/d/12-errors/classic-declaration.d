int x;
long x;
BEGIN
{
}
