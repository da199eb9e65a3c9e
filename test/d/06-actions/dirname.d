#pragma D option quiet


BEGIN
{
	printf("[%s]\n", dirname(""));
	printf("[%s]\n", dirname("a"));
	printf("[%s]\n", dirname("a/"));
	printf("[%s]\n", dirname("/"));
	printf("[%s]\n", dirname("//"));
	printf("[%s]\n", dirname("/a"));
	printf("[%s]\n", dirname("/a/b//"));
	printf("[%s]\n", dirname("a//b"));
	printf("[%s]\n", dirname("/usr/lib/x"));
	printf("[%s]\n", dirname("//a"));
	exit(0);
}
