#pragma D option quiet

BEGIN
{
	printf("%05d|%05d|%08x|%03d|%-05d|%+05d|\n", 42, -42, 48879, 12345, 42, 42);
	exit(0);
}
