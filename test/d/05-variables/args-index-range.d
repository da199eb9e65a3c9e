#pragma D option zdefs

erlang*:::process-spawn
{
	trace(args[1]);
	trace(args[2]);
}

erlang*:::process-spawn
{
	trace(args[-1]);
}
