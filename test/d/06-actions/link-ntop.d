BEGIN
{
	this->a = (uchar_t *)alloca(20);
	this->a[0] = 0; this->a[1] = 0x1b; this->a[2] = 0x63; this->a[3] = 0x84; this->a[4] = 0x45; this->a[5] = 0xe6;
	printf("%s %d\n", link_ntop(1, this->a), strlen(link_ntop(32, this->a)));
	exit(0);
}
