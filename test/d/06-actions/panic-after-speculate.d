BEGIN
{
	speculate(1); panic();
}
