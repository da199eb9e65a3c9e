BEGIN
{
	x = 1; jstack(5, x);
}
