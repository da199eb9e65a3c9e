#pragma D option quiet


BEGIN
{
	printf("[%s]\n", substr("abcdefghijklmnop", 2, -10));
	printf("[%s]\n", substr("abcdefghijklmnop", 2, 0));
	printf("[%s]\n", substr("abcdefghijklmnop", -3, 2));
	printf("[%s]\n", substr("abcdefghijklmnop", -3));
	printf("[%s]\n", substr("abcde", -10));
	printf("[%s]\n", substr("abcde", -7, 3));
	printf("[%s]\n", substr("abcde", -8, 3));
	printf("[%s]\n", substr("abcde", 5));
	printf("[%s]\n", substr("abcde", 4));
	printf("[%s]\n", substr("abcde", 0));
	printf("[%s]\n", substr("abcde", 1, 100));
	printf("[%s]\n", substr("abcde", 1, -4));
	printf("[%s]\n", substr("abcde", 1, -3));
	printf("[%s]\n", substr("abcde", 100, 1));
	printf("[%s]\n", substr("", 0, 1));
	printf("[%s]\n", substr("abcde", -7, -1));
	printf("[%s]\n", substr("abcde", 0x100000001, 2));
	exit(0);
}
