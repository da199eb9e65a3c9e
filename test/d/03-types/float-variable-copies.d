/* a copy does not change with what it was copied from; 0 frees a dynamic variable */
double g;
BEGIN
{
	this->p = (uint64_t *)alloca(8);
	*this->p = 0x4000000000000000;
	this->d = *(double *)this->p;
	g = this->d;
	self->d = g;
	a[1] = self->d;
	*this->p = 0;
	printf("%g %g %g %g %g\n", this->d, g, self->d, a[1], *(double *)this->p);
	self->d = 0;
	printf("%g\n", self->d);
	exit(0);
}
