BEGIN
{
	while = 1;
}
