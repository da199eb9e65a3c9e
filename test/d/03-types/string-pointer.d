BEGIN
{
	this->p = (string *)alloca(256);
	*this->p = "hello";
	printf("%s %d %d %c\n", *this->p, strlen(*this->p), sizeof (*this->p), ((char *)this->p)[4]);
	exit(0);
}
