BEGIN
{
	x = 3; ustack(5, x);
}
