BEGIN
{
	@[sym(arg0), pid] = sum(1);
	exit(0);
}
