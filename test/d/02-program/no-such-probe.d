BEGIN
{
	exit(0);
}

dtrace:::NOPE
{
	x = 1;
}
