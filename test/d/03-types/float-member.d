struct s { int i; double d; };
BEGIN
{
	this->b = (uint64_t *)alloca(24);
	*this->b = 0x0000002a;
	this->b[1] = 0x4005bf0a8b145769;
	this->s = (struct s *)this->b;
	printf("%d %.10f\n", this->s->i, this->s->d);
	exit(0);
}
