BEGIN
{
	@["x"] = count();
	printa(@);
	exit(0);
}
