BEGIN
{
	this->s = (ushort_t *)alloca(16);
	this->s[0] = htons(0x2001);
	this->s[1] = htons(0xdb8);
	this->s[2] = htons(0x0);
	this->s[3] = htons(0x0);
	this->s[4] = htons(0x0);
	this->s[5] = htons(0x0);
	this->s[6] = htons(0x0);
	this->s[7] = htons(0x1);
	printf("%s %s %s\n", inet_ntoa6((void *)this->s), inet_ntoa6((void *)this->s, 1), inet_ntop(10, this->s));
	this->s[0] = htons(0xfe80);
	this->s[1] = htons(0x0);
	this->s[2] = htons(0x0);
	this->s[3] = htons(0x0);
	this->s[4] = htons(0x1234);
	this->s[5] = htons(0x5678);
	this->s[6] = htons(0x9abc);
	this->s[7] = htons(0xdef0);
	printf("%s %s %s\n", inet_ntoa6((void *)this->s), inet_ntoa6((void *)this->s, 1), inet_ntop(10, this->s));
	this->s[0] = htons(0x1);
	this->s[1] = htons(0x2);
	this->s[2] = htons(0x3);
	this->s[3] = htons(0x4);
	this->s[4] = htons(0x5);
	this->s[5] = htons(0x6);
	this->s[6] = htons(0x7);
	this->s[7] = htons(0x8);
	printf("%s %s %s\n", inet_ntoa6((void *)this->s), inet_ntoa6((void *)this->s, 1), inet_ntop(10, this->s));
	exit(0);
}
