#pragma D option quiet

int v[2];

BEGIN
{
	v[0] = 0x64636261;
	v[1] = 7;
	this->p = (int *)copyin((uintptr_t)&v[0], 8);
	printf("%x %d\n", this->p[0], this->p[1]);
	this->q = (char *)alloca(4);
	copyinto((uintptr_t)&v[0], 4, this->q);
	printf("%c%c\n", this->q[0], this->q[3]);
	this->p[0] = 1;
	printf("%x\n", v[0]);
	exit(0);
}
