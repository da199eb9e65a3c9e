BEGIN
{
	this->p = (uint64_t *)alloca(8);
	*this->p = 0x7ff0000000000000;
	printf("%f %g %E\n", *(double *)this->p, *(double *)this->p, *(double *)this->p);
	exit(0);
}
