#pragma D option quiet

/* A precision of zero is none. */
BEGIN
{
	printf("%.0d|%.0x|%5.0d|%.0s|%.d|%.s|\n", 0, 0, 0, "text", 0, "text");
	exit(0);
}
