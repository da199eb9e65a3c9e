this double d; BEGIN
{
	printf("%d", this->d);
}
