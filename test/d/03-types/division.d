#pragma D option quiet

BEGIN
{
	this->a = -7;
	this->b = 2;
	printf("%d %d %d\n", this->a / this->b, this->a / -this->b, 7 / 2);
	exit(0);
}
