#pragma D option quiet

BEGIN
{
	printf("%Y\n", (int64_t)0);
	printf("%Y\n", 1062584603000000000);
	printf("%T\n", 1062584603000000000);
	exit(0);
}
