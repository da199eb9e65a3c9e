string s[2];
BEGIN
{
	s[1] = "key";
	a[s[1]] = 5;
	@[s[1]] = count();
	printf("%d\n", a["key"]);
	printa("%s %@d\n", @);
	exit(0);
}
