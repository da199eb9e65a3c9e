/* The second one is in haste: END does not run, and aggregations are left out. */
BEGIN
{
	@ = count();
	printf("begun\n");
	raise(2);
	raise(2);
}
END
{
	printf("never\n");
}
