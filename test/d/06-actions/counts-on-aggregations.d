BEGIN
{
	@a = count();
	clear();
	clear(@a, 1);
	trunc();
	trunc(@a, 1, 2);
	normalize(@a);
	normalize(@a, 1, 2);
	denormalize(@a, 1);
}
