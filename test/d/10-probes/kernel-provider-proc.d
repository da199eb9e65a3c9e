proc:::exec-success
{
	trace(1);
}
