BEGIN
{
	this->a = (uchar_t *)alloca(20);
	this->a[0] = 10;
	this->a[3] = 7;
	this->a[15] = 1;
	printf("%s %s %s\n", inet_ntop(AF_INET, this->a), inet_ntop(AF_INET6, this->a), link_ntop(ARPHRD_ETHER, this->a));
	printf("%d\n", strlen(link_ntop(ARPHRD_INFINIBAND, this->a)));
	exit(0);
}
