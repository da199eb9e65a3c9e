int x;
tick-1s
BEGIN
{
	x = 1;
}
