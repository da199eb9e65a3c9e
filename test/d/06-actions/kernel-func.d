BEGIN
{
	func(arg0);
	exit(0);
}
