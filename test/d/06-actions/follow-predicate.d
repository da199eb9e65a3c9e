BEGIN
/1/
{
	follow();
}
