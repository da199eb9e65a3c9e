_Bool b;
BEGIN
{
	b = 1;
	printf("%d %d %d\n", b, sizeof (b), sizeof (_Bool));
	exit(0);
}
