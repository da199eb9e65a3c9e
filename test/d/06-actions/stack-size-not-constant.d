BEGIN
{
	x = 3; stack(x);
}
