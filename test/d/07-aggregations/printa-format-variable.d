BEGIN
{
	@a = count();
	s = "%@d";
	printa(s, @a);
}
