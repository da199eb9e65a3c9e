#pragma D option quiet

BEGIN
{
	printf("%#x %#X %#o %#x %#o %#d\n", 255, 255, 8, 0, 0, 5);
	printf("%#08x|%#10x|%-#10x|\n", 255, 255, 255);
	exit(0);
}
