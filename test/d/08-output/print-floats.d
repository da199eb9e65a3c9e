struct s { int i; float f; double d; long double l; };
BEGIN
{
	this->b = (uint64_t *)alloca(32);
	this->b[0] = 0x3fc0000000000007;
	this->b[1] = 0xc004000000000000;
	this->b[2] = 0x8000000000000000;
	this->b[3] = 0x4001;
	print((struct s *)this->b);
	exit(0);
}
