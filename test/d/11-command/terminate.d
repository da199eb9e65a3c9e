/* As an interrupt, without the newline. */
BEGIN
{
	@ = count();
	raise(15);
}
END
{
	printf("end\n");
}
