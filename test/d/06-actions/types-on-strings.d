BEGIN
{
	a = strjoin(1, "b");
	b = strjoin("a", 2);
	c = index("a", 1);
	d = index("a", "b", "c");
	e = rindex(1, "b");
	f = strtok("a", 1);
	g = tolower(1);
	h = dirname(1);
	i = cleanpath(1);
	j = strstr(1, "a");
}
