#pragma D option quiet

/* Wide keys are shown signed, narrow ones unsigned, whatever their type is. */
BEGIN
{
	@[18446744073709551615ull, 4294967295u, (unsigned short)65535, (unsigned char)255] = count();
	@[1L, 1, (short)1, (char)1] = count();
	exit(0);
}
