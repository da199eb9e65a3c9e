#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", sizeof (char), sizeof (short), sizeof (long));
	printf("%d %d\n", sizeof (string), sizeof ("abc"));
	printf("%d %d\n", sizeof (uint16_t), sizeof (pid_t));
	exit(0);
}
