BEGIN
{
	this->p = (uint64_t *)alloca(16);
	this->p[0] = 0x8000000000000000;
	this->p[1] = 0x4000;
	printf("%Lf %Lg %f\n", *(long double *)this->p, *(long double *)this->p, *(long double *)this->p);
	exit(0);
}
