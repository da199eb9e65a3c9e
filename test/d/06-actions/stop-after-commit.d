BEGIN
{
	commit(1); stop();
}
