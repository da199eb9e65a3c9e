BEGIN
{
	this->a = (uchar_t *)alloca(8);
	*(uint64_t *)this->a = htonll(0x0102030405060708);
	printf("%d %d %d\n", this->a[0], this->a[1], this->a[7]);
	*(uint32_t *)this->a = htonl(0x01020304);
	*(ushort_t *)(this->a + 4) = htons(0x0102);
	printf("%d %d %d %d\n", this->a[0], this->a[3], this->a[4], this->a[5]);
	printf("%x %x %x\n", ntohl(*(uint32_t *)this->a), ntohs(*(ushort_t *)(this->a + 4)), ntohll(htonll(5)));
	exit(0);
}
