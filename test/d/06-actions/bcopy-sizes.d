#pragma D option quiet

int n;

BEGIN
{
	n = -1;
	this->a = alloca(16);
	bcopy("x", this->a, n);
}
BEGIN
{
	n = 100000;
	this->a = alloca(16);
	bcopy("x", this->a, n);
}
BEGIN
{
	exit(0);
}
