#pragma D option quiet

BEGIN
{
	this->a = -1;
	printf("%d%d%d%d%d%d\n", this->a < 0, this->a <= -1, this->a > 0, this->a >= 0, this->a == -1, this->a != -1);
	exit(0);
}
