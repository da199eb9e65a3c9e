#pragma D option quiet


BEGIN
{
	printf("%d\n", rand() != rand());
	printf("%d\n", rand() >= 0);
	printf("%d\n", sizeof (rand()));
	exit(0);
}
