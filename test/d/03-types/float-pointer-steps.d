BEGIN
{
	this->d = (double *)alloca(16);
	this->f = (float *)this->d;
	printf("%d %d\n", (uint64_t)(this->d + 1) - (uint64_t)this->d, (uint64_t)(this->f + 1) - (uint64_t)this->f);
	exit(0);
}
