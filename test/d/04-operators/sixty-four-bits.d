#pragma D option quiet

BEGIN
{
	this->m = 0x7fffffffffffffff;
	printf("%d %d\n", this->m + 1, this->m * 2);
	printf("%x %X\n", (unsigned long)this->m, 0xDEADBEEF);
	exit(0);
}
