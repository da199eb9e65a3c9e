#pragma D option quiet


int one, many;

BEGIN
{
	one = 1;
	many = 37;
}
BEGIN
{
	trace(lltostr(5, one));
}
BEGIN
{
	trace(lltostr(5, many));
}
BEGIN
{
	trace(strtoll("5", -one));
}
BEGIN
{
	exit(0);
}
