BEGIN
{
	copyout(arg1, arg0, 8);
}
