string s[1000];
BEGIN
{
}
