this double d; BEGIN
{
	x = (int)this->d;
}
