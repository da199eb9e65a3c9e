BEGIN
{
	speculate(1);
	freopen("x");
}
