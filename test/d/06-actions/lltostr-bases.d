#pragma D option quiet

BEGIN
{
	printf("%s %s %s %s %s %s\n", lltostr(-1, 10), lltostr(-1, 8), lltostr(255, 2), lltostr(-255, 16), lltostr(35, 36), lltostr(0x8000000000000000, 16));
	exit(0);
}
