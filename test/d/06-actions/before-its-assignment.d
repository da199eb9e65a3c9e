/* It must be assigned in the text before; when it runs does not matter. */
END
{
	clear(@a);
	trunc(@a);
	normalize(@a, 1);
	denormalize(@a);
	printa(@a);
}
BEGIN
{
	@a = count();
	exit(0);
}
