#pragma D option quiet

BEGIN
{
	printf("[%s]", substr("abcde", -2));
	printf("[%s]", substr("abcde", -5, 2));
	printf("[%s]", substr("abcde", -6, 2));
	printf("[%s]", substr("abcde", -6, 1));
	printf("[%s]", substr("abcde", -3, -1));
	printf("[%s]", substr("abcde", -3, -3));
	printf("[%s]", substr("abcde", 6));
	printf("[%s]", substr("abcde", 2, 0x100000001));
	printf("[%s]", substr("", -1));
	printf("[%s]\n", substr("abcde", 0, -5));
	exit(0);
}
