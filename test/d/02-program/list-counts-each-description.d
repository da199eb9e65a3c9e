BEGIN, END, BEGIN
{
	exit(0);
}
