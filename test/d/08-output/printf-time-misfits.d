int *p;

BEGIN
{
	printf("%Y", 5);
	printf("%T", (short)5);
	printf("%Y", "now");
	printf("%T", p);
}
