BEGIN
{
	this->p = (uint64_t *)alloca(8);
	*this->p = 0x3ff8000000000000;
	trace(*(double *)this->p);
	printf("\n");
	exit(0);
}
