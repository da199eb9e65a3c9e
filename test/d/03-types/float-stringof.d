this double d; BEGIN
{
	x = stringof(this->d);
}
