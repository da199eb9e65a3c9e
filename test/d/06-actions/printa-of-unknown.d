BEGIN
{
	printa(@never);
}
