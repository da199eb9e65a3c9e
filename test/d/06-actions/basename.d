#pragma D option quiet


BEGIN
{
	printf("[%s]\n", basename("/usr/lib"));
	printf("[%s]\n", basename("/usr/lib//"));
	printf("[%s]\n", basename("a"));
	printf("[%s]\n", basename(""));
	printf("[%s]\n", basename("/"));
	printf("[%s]\n", basename("//"));
	printf("[%s]\n", basename("/a/b/."));
	printf("[%s]\n", basename("a/b"));
	exit(0);
}
