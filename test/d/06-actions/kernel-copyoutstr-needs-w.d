BEGIN
{
	copyoutstr("hello", arg0, 6);
}
