BEGIN
{
	x = json(1, "a");
}
