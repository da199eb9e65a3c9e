BEGIN
{
	speculate(1);
}
