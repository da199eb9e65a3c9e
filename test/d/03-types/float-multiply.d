this double d; BEGIN
{
	x = this->d * this->d;
}
