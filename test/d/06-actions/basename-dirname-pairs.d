#pragma D option quiet

BEGIN
{
	printf("%s:%s\n", dirname("/a/b/c"), basename("/a/b/c"));
	printf("%s:%s\n", dirname("a/b/"), basename("a/b/"));
	printf("%s:%s\n", dirname("///"), basename("///"));
	printf("%s:%s\n", dirname(".."), basename(".."));
	printf("%s:%s\n", dirname("/a/b/."), basename("/a/b/."));
	exit(0);
}
