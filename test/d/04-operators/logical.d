#pragma D option quiet

BEGIN
{
	this->a = 2;
	this->z = 0;
	printf("%d%d%d\n", this->a && this->z, this->a || this->z, this->a ^^ this->z);
	printf("%d%d%d\n", this->a && 3, this->z || 0, this->a ^^ 3);
	exit(0);
}
