BEGIN
{
	x = json("{}");
}
