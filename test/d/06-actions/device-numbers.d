#pragma D option quiet


BEGIN
{
	printf("%d\n", getmajor(0x12345678));
	printf("%d\n", getminor(0x12345678));
	printf("%d\n", getmajor(-1));
	printf("%d\n", getminor(-1));
	exit(0);
}
