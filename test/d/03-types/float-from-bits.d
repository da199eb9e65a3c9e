BEGIN
{
	this->p = (uint64_t *)alloca(8);
	*this->p = 0x3ff8000000000000;
	printf("%f %e %g %E %G\n", *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p, *(double *)this->p);
	exit(0);
}
