/* A newline, END, the aggregations. */
BEGIN
{
	@ = count();
	raise(2);
}
END
{
	printf("end\n");
}
