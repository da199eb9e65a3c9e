BEGIN
{
	normalize(@never, 1);
}
