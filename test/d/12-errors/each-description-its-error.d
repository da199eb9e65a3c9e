dtrace:::ONE,
dtrace:::TWO
{
	exit(0);
}
