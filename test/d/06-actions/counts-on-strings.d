BEGIN
{
	a = strlen();
	b = strjoin("a");
	c = strchr("a");
	d = strrchr("a", 1, 2);
	e = strstr("a");
	f = substr("a");
	g = substr("a", 1, 2, 3);
	h = basename();
	i = index("a", "b", 1, 2);
}
