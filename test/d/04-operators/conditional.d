#pragma D option quiet

BEGIN
{
	this->x = 3;
	printf("%s %d\n", this->x > 2 ? "big" : "small", this->x == 1 ? 10 : this->x == 3 ? 30 : 0);
	exit(0);
}
