BEGIN
{
	follow();
}
