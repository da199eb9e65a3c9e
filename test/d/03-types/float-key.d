this double d; BEGIN
{
	a[this->d] = 1;
}
