#pragma D option quiet


BEGIN
{
	printf("[%s]\n", lltostr(0));
	printf("[%s]\n", lltostr(-17));
	printf("[%s]\n", lltostr(0x7fffffffffffffff));
	printf("[%s]\n", lltostr(1 << 63));
	printf("[%s]\n", lltostr(255, 16));
	printf("[%s]\n", lltostr(8, 8));
	printf("[%s]\n", lltostr(0, 8));
	printf("[%s]\n", lltostr(0, 16));
	printf("[%s]\n", lltostr(5, 2));
	printf("[%s]\n", lltostr(-1, 16));
	printf("[%s]\n", lltostr(35, 36));
	printf("[%s]\n", lltostr(-5, 10));
	printf("[%s]\n", strjoin("n", lltostr(7)));
	exit(0);
}
