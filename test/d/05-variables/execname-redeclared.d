int execname; BEGIN
{
	x = 1;
}
