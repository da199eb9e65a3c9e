BEGIN
{
	copyoutstr(arg1, arg0, 8);
}
