BEGIN
{
	this->p = (uint32_t *)alloca(8);
	*this->p = 0xc0200000;
	printf("%f|%10.2f|%-10.1f|%+g|\n", *(float *)this->p, *(float *)this->p, *(float *)this->p, *(float *)this->p);
	exit(0);
}
