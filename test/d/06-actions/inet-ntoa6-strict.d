BEGIN
{
	this->s = (ushort_t *)alloca(16);
	this->s[0] = htons(0x0);
	this->s[1] = htons(0x0);
	this->s[2] = htons(0x0);
	this->s[3] = htons(0x0);
	this->s[4] = htons(0x0);
	this->s[5] = htons(0xffff);
	this->s[6] = htons(0x102);
	this->s[7] = htons(0x304);
	printf("%s %s %s\n", inet_ntoa6((void *)this->s), inet_ntoa6((void *)this->s, 1), inet_ntop(10, this->s));
	this->s[0] = htons(0x0);
	this->s[1] = htons(0x0);
	this->s[2] = htons(0x0);
	this->s[3] = htons(0x0);
	this->s[4] = htons(0x0);
	this->s[5] = htons(0x0);
	this->s[6] = htons(0xa00);
	this->s[7] = htons(0x1);
	printf("%s %s %s\n", inet_ntoa6((void *)this->s), inet_ntoa6((void *)this->s, 1), inet_ntop(10, this->s));
	this->s[0] = htons(0x0);
	this->s[1] = htons(0x0);
	this->s[2] = htons(0x0);
	this->s[3] = htons(0x0);
	this->s[4] = htons(0x0);
	this->s[5] = htons(0xfffe);
	this->s[6] = htons(0x1);
	this->s[7] = htons(0x2);
	printf("%s %s %s\n", inet_ntoa6((void *)this->s), inet_ntoa6((void *)this->s, 1), inet_ntop(10, this->s));
	exit(0);
}
