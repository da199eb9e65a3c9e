#pragma D option quiet

BEGIN
{
	this->u = (unsigned long)-2;
	printf("%u %u\n", this->u / 3, this->u % 10);
	exit(0);
}
