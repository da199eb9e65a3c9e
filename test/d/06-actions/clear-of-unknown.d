BEGIN
{
	clear(@never);
}
