#pragma D option quiet
inline int64_t MIN = -0x7fffffffffffffffL - 1;
BEGIN
{
	printf("%d %d %d\n", MIN, MIN / -1, MIN % -1);
	printf("%d %d\n", -MIN, MIN - 1);
	printf("%d %d\n", 1 << 64, 1L << 127 == MIN);
	exit(0);
}
