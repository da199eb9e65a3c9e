#pragma D option quiet


BEGIN
{
	if (1)
		exit(3);
	printf("the clause is finished\n");
	if (1)
		printf("all of it\n");
}
BEGIN
{
	printf("no other\n");
}
