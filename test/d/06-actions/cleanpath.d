#pragma D option quiet


BEGIN
{
	printf("[%s]\n", cleanpath("/a//b"));
	printf("[%s]\n", cleanpath("/a/./b"));
	printf("[%s]\n", cleanpath("/a/x/../b"));
	printf("[%s]\n", cleanpath("/../x"));
	printf("[%s]\n", cleanpath("/../.."));
	printf("[%s]\n", cleanpath("a/.."));
	printf("[%s]\n", cleanpath("../.."));
	printf("[%s]\n", cleanpath("./a"));
	printf("[%s]\n", cleanpath("/a/"));
	printf("[%s]\n", cleanpath(""));
	printf("[%s]\n", cleanpath("/"));
	printf("[%s]\n", cleanpath("../a/../b"));
	printf("[%s]\n", cleanpath("a/b/../../.."));
	printf("[%s]\n", cleanpath("a/.../b"));
	printf("[%s]\n", cleanpath("."));
	printf("[%s]\n", cleanpath("a/../b"));
	printf("[%s]\n", cleanpath("/a/b/../.."));
	exit(0);
}
