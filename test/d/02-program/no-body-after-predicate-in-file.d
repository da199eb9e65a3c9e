BEGIN
{
	x = 1;
}
tick-1s
/x == 1/
END
{
}
