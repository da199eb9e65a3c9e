#pragma D option zdefs

shop:::order
{
	trace(args[0]);
}

4711
{
	trace(args[0]);
}
