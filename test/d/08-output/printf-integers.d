#pragma D option quiet

BEGIN
{
	printf("%5d|%-5d|%05d|%+d|% d|\n", 42, 42, 42, 42, 42);
	printf("%x %X %o %#x %#o\n", 255, 255, 8, 255, 8);
	printf("%u %d\n", -1, -1);
	printf("%i\n", -7);
	printf("%.3d|%6.3d|\n", 5, 5);
	printf("%p %?p|\n", 0xbeef, 0xbeefL);
	exit(0);
}
