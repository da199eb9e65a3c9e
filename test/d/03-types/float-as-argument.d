this double d; BEGIN
{
	trace(strlen(this->d));
}
