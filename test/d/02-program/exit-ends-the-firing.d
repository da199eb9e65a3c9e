#pragma D option quiet

BEGIN
{
	exit(0);
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
