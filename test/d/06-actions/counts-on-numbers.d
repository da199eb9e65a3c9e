BEGIN
{
	a = lltostr();
	b = lltostr(1, 2, 3);
	c = strtoll();
	d = strtoll("1", 2, 3);
	e = getminor();
	f = htonl(1, 2);
	g = toupper("a", "b");
	h = rindex("a");
	i = dirname();
}
