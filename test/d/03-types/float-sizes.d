struct f { char c; double d; long double l; };
BEGIN
{
	printf("%d %d %d %d\n", sizeof (float), sizeof (double), sizeof (long double), sizeof (struct f));
	printf("%d %d\n", offsetof(struct f, d), offsetof(struct f, l));
	exit(0);
}
