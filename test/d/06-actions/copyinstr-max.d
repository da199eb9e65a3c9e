#pragma D option quiet

/* The NUL counts: 8 bytes are 7 characters and it. */
BEGIN
{
	this->p = (char *)alloca(32);
	bcopy("hello world", this->p, 12);
	printf("[%s]\n", copyinstr((uintptr_t)this->p));
	printf("[%s]\n", copyinstr((uintptr_t)this->p, 8));
	printf("[%s]\n", copyinstr((uintptr_t)this->p, 1));
	printf("[%s]\n", copyinstr((uintptr_t)this->p, 100));
	printf("[%s]\n", copyinstr((uintptr_t)(this->p + 6)));
	exit(0);
}
