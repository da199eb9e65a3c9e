int x;

BEGIN
{
	@a = x;
	@b = strlen("x");
	@c += 1;
	@d = "text";
	@e = count;
}
