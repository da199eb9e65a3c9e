#pragma D option quiet

int z, n;
int a[4];

ERROR
{
	printf("%d ", arg4);
}
BEGIN
{
	trace(copyinstr(0));
}
BEGIN
{
	this->c = (char *)alloca(8);
	this->i = (int *)(this->c + 1);
	*this->i = 1;
}
BEGIN
{
	n = 99;
	trace(lltostr(1, n));
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	n = 1000;
	x = alloca(n);
}
BEGIN
{
	n = -1;
	bcopy("x", alloca(8), n);
}
BEGIN
{
	n = 4;
	trace(a[n]);
}
BEGIN
{
	exit(0);
}
