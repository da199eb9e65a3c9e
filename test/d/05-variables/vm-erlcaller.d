BEGIN
{
	trace(erlcaller);
	exit(0);
}
