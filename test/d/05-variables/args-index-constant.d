#pragma D option zdefs

erlang*:::process-spawn
{
	trace(args[arg0]);
}

erlang*:::process-spawn
{
	trace(args["a"]);
}

erlang*:::process-spawn
{
	trace(args[0, 1]);
}

erlang*:::process-spawn
{
	trace(args[1 - 1]);
}
