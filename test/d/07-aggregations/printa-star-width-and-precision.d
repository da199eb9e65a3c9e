/* The @ may follow a width that is an argument, as it may follow one that is written. */
#pragma D option quiet

BEGIN
{
	@a[5] = sum(42);
	printa("|%*@.3d|\n", @a);
	printa("|%*@d|\n", @a);
	exit(0);
}
