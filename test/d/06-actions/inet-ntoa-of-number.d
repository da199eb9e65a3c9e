BEGIN
{
	this->a = (uint32_t *)alloca(4);
	*this->a = htonl(0x0a000102);
	printf("%s\n", inet_ntoa(this->a));
	exit(0);
}
