#pragma D option quiet

BEGIN
{
	exit(7);
}
END
{
	exit(9);
}
END
{
	printf("later END clauses run\n");
}
