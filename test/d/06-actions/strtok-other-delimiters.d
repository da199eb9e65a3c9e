/* It goes on at the delimiter that ended the token before. */
#pragma D option quiet
BEGIN
{
	printf("%s ", strtok("a,b;c", ","));
	printf("%s ", strtok(NULL, ";"));
	printf("%s ", strtok(NULL, ""));
	printf("%d\n", strtok(NULL, "x") == NULL);
	exit(0);
}
