/* The first use fixes the types of the keys and of the value. */
#pragma D option quiet
BEGIN
{
	a["k", (char)1] = (uint8_t)300;
	self->b[probename] = "text";
	@c["k", 1] = count();
	printf("%d %d %s\n", sizeof (a["k", 1]), a["k", 0x101], self->b["BEGIN"]);
	a["k", 1] = 257;
	printf("%d\n", a["k", 1]);
	printa("%s %d %@d\n", @c);
	trunc(@c);
	exit(0);
}
