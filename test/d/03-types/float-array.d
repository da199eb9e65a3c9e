double a[4];
BEGIN
{
	this->p = (uint64_t *)alloca(16);
	this->p[0] = 0x3ff0000000000000;
	this->p[1] = 0x4008000000000000;
	this->d = (double *)this->p;
	printf("%g %g %d\n", this->d[0], *(this->d + 1), sizeof (a));
	exit(0);
}
