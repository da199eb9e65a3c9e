BEGIN
{
	copyoutstr("hello", arg0, 6);
	exit(0);
}
