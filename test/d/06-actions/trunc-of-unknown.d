BEGIN
{
	trunc(@never, 5);
}
