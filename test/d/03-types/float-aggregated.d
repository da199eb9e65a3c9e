this double d; BEGIN
{
	@ = sum(this->d);
}
