BEGIN
{
	x = 3; ustack(x);
}
