/* The second one comes when only the aggregations are left, which it leaves out. */
BEGIN
{
	@ = count();
	raise(2);
}
END
{
	printf("end\n");
	raise(2);
}
