BEGIN
{
	printf("%hd %hi %hu %ho %hx %hX\n", (short)-1, (int16_t)-2, (ushort_t)65535, (ushort_t)8, (short)-1, (ushort_t)48879);
	printf("%ld %li %lu %lo %lx %lX\n", -1L, arg0 - 2, sizeof (int), (ulong_t)8, -1L, (ulong_t)48879);
	printf("%lld %lli %llu %llo %llx %llX\n", -1LL, -2LL, 3ULL, 8ULL, -1LL, 48879ULL);
	printf("%llx %llX\n", arg0 + 255, (uint64_t)255);
	exit(0);
}
