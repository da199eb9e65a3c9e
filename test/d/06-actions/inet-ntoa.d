BEGIN
{
	this->a = (uchar_t *)alloca(4);
	this->a[0] = 192; this->a[1] = 168; this->a[2] = 0; this->a[3] = 1;
	printf("%s %s\n", inet_ntoa((uint32_t *)this->a), inet_ntop(2, this->a));
	this->a[0] = 255; this->a[1] = 0;
	printf("%s %d\n", inet_ntoa((void *)this->a), strlen(inet_ntoa(this->a)));
	exit(0);
}
