BEGIN
{
	trace(xlate <int> (1).v);
}
