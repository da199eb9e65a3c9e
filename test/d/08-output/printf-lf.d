this double d; BEGIN
{
	printf("%lf", this->d);
}
