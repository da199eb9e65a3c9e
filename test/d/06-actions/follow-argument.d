BEGIN
{
	follow(1);
}
