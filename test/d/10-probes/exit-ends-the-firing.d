#pragma D option quiet

BEGIN
{
	printf("one ");
	exit(3);
	printf("rest of the clause\n");
}
BEGIN
{
	printf("never\n");
}
END
{
	printf("end\n");
}
