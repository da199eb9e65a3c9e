#pragma D option quiet

BEGIN
{
	printf("%+d %+d %+d|% d|% d|%+5d|%-+5d|\n", 5, -5, 0, 5, -5, 5, 5);
	printf("%+u % x\n", 5, 255);
	exit(0);
}
