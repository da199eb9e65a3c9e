this double d; BEGIN
{
	this->d++;
}
