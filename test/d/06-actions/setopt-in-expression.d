BEGIN
{
	x = 1 + setopt("quiet");
}
