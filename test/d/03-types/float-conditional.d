BEGIN
{
	this->p = (uint64_t *)alloca(16);
	this->p[0] = 0x3ff0000000000000;
	this->p[1] = 0x4008000000000000;
	printf("%g\n", arg0 == 0 ? *(double *)this->p : *(double *)(this->p + 1));
	exit(0);
}
