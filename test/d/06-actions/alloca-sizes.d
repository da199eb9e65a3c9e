BEGIN
{
	x = alloca(256);
	y = alloca(257);
	z = alloca(-1);
}
