#pragma D option quiet

int z;
unsigned int u;
long l;

BEGIN
{
	trace(1 % z);
}
BEGIN
{
	trace(1 % u);
}
BEGIN
{
	l /= z;
}
BEGIN
{
	l %= z;
}
BEGIN
{
	exit(0);
}
