#pragma D option quiet
BEGIN
{
	printf("%d %d %d\n", sizeof (char), sizeof (signed char), sizeof (unsigned char));
	printf("%d %d %d %d\n", sizeof (short), sizeof (int), sizeof (long), sizeof (long long));
	printf("%d %d %d %d\n", sizeof (unsigned short), sizeof (unsigned), sizeof (unsigned long), sizeof (unsigned long long));
	printf("%d %d %d %d\n", sizeof (_Bool), sizeof (void *), sizeof (struct nosuch *), sizeof (int (*)(int)));
	printf("%d %d %d %d\n", sizeof (signed), sizeof (signed short int), sizeof (long int), sizeof (long unsigned int));
	exit(0);
}
