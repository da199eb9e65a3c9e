BEGIN
{
	trace(probenam);
}
