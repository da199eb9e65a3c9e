#pragma D option quiet

BEGIN
{
	printf("%p|%?p|%-?p|%8p|%p\n", (int *)0xbeef, (int *)0xbeef, (int *)0xbeef, 0x1fL, (void *)0);
	exit(0);
}
