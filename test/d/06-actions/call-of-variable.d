int x;

BEGIN
{
	x();
	y = probename(1);
}
