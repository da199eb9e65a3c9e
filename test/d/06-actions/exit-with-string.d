BEGIN
{
	exit("now");
}
