#pragma D option quiet

BEGIN
{
	printf("%?d|%-?d|%?x|%?s|\n", 5, 5, 255, "s");
	exit(0);
}
