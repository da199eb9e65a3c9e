#pragma D option quiet


BEGIN
{
	printf("[%s]\n", strstr("hello world", "o w"));
	printf("[%s]\n", strstr("aab", "ab"));
	printf("[%s]\n", strstr("hello", ""));
	printf("[%s]\n", strstr("", ""));
	printf("%d\n", strstr("hello", "hellos") == NULL);
	printf("%d\n", strstr("hello", "x") == NULL);
	printf("%d\n", strstr("", "x") == NULL);
	exit(0);
}
