#pragma D option quiet


BEGIN
{
	printf("never %s\n", strtok(NULL, " "));
}
BEGIN
{
	exit(0);
}
