string *p;
BEGIN
{
	trace(*p);
}
BEGIN
{
	exit(0);
}
