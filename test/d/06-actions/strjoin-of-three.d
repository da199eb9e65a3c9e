BEGIN
{
	trace(strjoin("a", "b", "c"));
}
