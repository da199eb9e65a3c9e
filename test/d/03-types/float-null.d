BEGIN
{
	printf("%f\n", *(double *)0);
}
BEGIN
{
	exit(0);
}
