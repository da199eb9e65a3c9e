struct s { int a; } g;

BEGIN
{
	a = lltostr(1, "b");
	b = strtoll("1", "b");
	c = getminor("a");
	d = ntohl(g);
	e = substr("a", 1, "b");
	f = strlen(g);
}
