wall-97
{
	trace(args[2]);
}
