this double d; BEGIN
{
	x = (float)this->d;
}
