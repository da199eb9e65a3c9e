#pragma D option quiet


BEGIN
{
	printf("%d\n", strtoll("17"));
	printf("%d\n", strtoll("-17"));
	printf("%d\n", strtoll("  +8x"));
	printf("%d\n", strtoll(""));
	printf("%d\n", strtoll("x1"));
	printf("%d\n", strtoll("ff", 16));
	printf("%d\n", strtoll("0xFf", 16));
	printf("%d\n", strtoll("0x", 16));
	printf("%d\n", strtoll("0x10"));
	printf("%d\n", strtoll("777", 8));
	printf("%d\n", strtoll("101", 2));
	printf("%d\n", strtoll("z", 36));
	printf("%d\n", strtoll("9223372036854775807"));
	exit(0);
}
