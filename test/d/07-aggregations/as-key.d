BEGIN
{
	@a = count();
	x[@a] = 1;
	@b[@a] = count();
	x[1] = 2;
	y[1] = 2;
	y[@a] = 3;
}
