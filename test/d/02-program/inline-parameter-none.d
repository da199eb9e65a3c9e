inline int f[] = 1;
BEGIN
{
}
