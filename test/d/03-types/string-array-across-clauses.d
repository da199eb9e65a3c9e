string s[2];
BEGIN
{
	s[1] = "kept";
}
BEGIN
{
	printf("%s\n", s[1]);
	exit(0);
}
