this double d; BEGIN
{
	this->d = 1;
}
