char *p;

BEGIN
{
	printf("%c", 5L);
	printf("%C", timestamp);
	printf("%c", "s");
	printf("%C", p);
}
