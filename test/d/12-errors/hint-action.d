BEGIN
{
	prinft("a");
}
