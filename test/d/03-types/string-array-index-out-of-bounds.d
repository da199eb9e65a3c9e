string s[2];
BEGIN
{
	i = 2;
	trace(s[i]);
}
BEGIN
{
	exit(0);
}
