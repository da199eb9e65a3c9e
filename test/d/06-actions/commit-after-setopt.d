BEGIN
{
	setopt("quiet");
	commit(1);
}
