this double d; this float f; BEGIN
{
	this->d = this->f;
}
