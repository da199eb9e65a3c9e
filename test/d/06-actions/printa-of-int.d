BEGIN
{
	printa(5);
}
