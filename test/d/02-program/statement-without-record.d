/* A clause that records nothing makes no line; one whose body is empty makes one. */
BEGIN
{
	x = 1;
	x + 1;
	self->y = x;
	"text";
}

BEGIN
{
	@a = count();
	clear(@a);
	trunc(@a);
	exit(0);
}
