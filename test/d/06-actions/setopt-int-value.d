BEGIN
{
	setopt("quiet", 1);
}
