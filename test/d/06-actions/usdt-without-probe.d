BEGIN
{
	usdt(1);
}
