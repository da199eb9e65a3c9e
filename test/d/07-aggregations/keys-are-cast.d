#pragma D option quiet

/* The first use says what a key is; others are cast to it. */
BEGIN
{
	@[1] = count();
	@[(char)1] = count();
	@[0x100000001] = count();
	exit(0);
}
