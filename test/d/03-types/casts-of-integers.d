/* Cut to the width of the target, then extended by the target's sign. */
#pragma D option quiet
long v;
unsigned long w;
BEGIN
{
	v = 0x123456789abcdef0;
	printf("%x %x %x\n", (uint32_t)v, (uint16_t)v, (uint8_t)v);
	printf("%d %d %d\n", (int)v, (short)v, (char)v);
	w = 0xffffffff80000000;
	printf("%d %d %d\n", (int)w, (unsigned)w, (long)w);
	v = -1;
	printf("%d %d %d\n", (unsigned char)v, (unsigned short)v, (unsigned)v);
	printf("%d %d\n", (long)(unsigned)v, (long)(int)(unsigned)v);
	printf("%d %d %d\n", (char)0x180, (unsigned char)0x180, (short)0x18000);
	exit(0);
}
