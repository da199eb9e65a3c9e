#pragma D option quiet


BEGIN
{
	printf("[%s]\n", strchr("abcabc", 'b'));
	printf("[%s]\n", strrchr("abcabc", 'b'));
	printf("[%s]\n", strchr("abc", 'a'));
	printf("[%s]\n", strrchr("abc", 'c'));
	printf("%d\n", strchr("abc", 'x') == NULL);
	printf("%d\n", strrchr("abc", 'x') == NULL);
	printf("%d\n", strchr("", 'x') == NULL);
	printf("%d\n", strchr("abc", '\0') == NULL);
	printf("%d\n", strrchr("abc", '\0') == NULL);
	printf("[%s]\n", strchr("abc", 0x162));
	exit(0);
}
