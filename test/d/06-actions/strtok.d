#pragma D option quiet


BEGIN
{
	printf("[%s]\n", strtok("/usr//lib/x", "/"));
	printf("[%s]\n", strtok(NULL, "/"));
	printf("[%s]\n", strtok(0, "/"));
	printf("%d\n", strtok(NULL, "/") == NULL);
	printf("%d\n", strtok(NULL, "/") == NULL);
	printf("[%s]\n", strtok("a,b;c", ",;"));
	printf("[%s]\n", strtok(NULL, ";"));
	printf("[%s]\n", strtok(NULL, ",;"));
	printf("%d\n", strtok("", "/") == NULL);
	printf("%d\n", strtok("///", "/") == NULL);
	printf("[%s]\n", strtok("whole", ""));
	exit(0);
}
