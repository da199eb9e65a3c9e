#pragma D option quiet

#pragma D option strsize=6
BEGIN
{
	this->p = (char *)alloca(16);
	this->p[0] = 'a';
	this->p[1] = 'b';
	this->p[2] = 'c';
	this->p[3] = 'd';
	this->p[4] = 'e';
	this->p[5] = 'f';
	this->p[6] = 'g';
	this->p[7] = 0;
	printf("[%s]\n", copyinstr((uintptr_t)this->p));
	printf("[%s]\n", copyinstr((uintptr_t)this->p, 100));
	exit(0);
}
