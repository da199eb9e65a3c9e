BEGIN
{
	trace(4294967295u);
	trace(18446744073709551615ull);
	exit(0);
}
