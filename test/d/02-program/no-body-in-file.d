BEGIN
{
	x = 1;
}
tick-1s
