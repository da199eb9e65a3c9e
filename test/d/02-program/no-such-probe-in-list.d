BEGIN,dtrace:::NOPE
{
	exit(0);
}
