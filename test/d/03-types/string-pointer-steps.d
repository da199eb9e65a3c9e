string *p;
BEGIN
{
	printf("%d\n", (uint64_t)(p + 2) - (uint64_t)p);
	p++;
	printf("%d\n", (uint64_t)p);
	printf("%d\n", (p + 3) - p);
	exit(0);
}
