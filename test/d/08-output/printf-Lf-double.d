this double d; BEGIN
{
	printf("%Lf", this->d);
}
