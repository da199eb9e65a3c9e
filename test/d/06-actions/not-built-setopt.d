BEGIN
{
	setopt("quiet");
}
