#pragma D option zdefs

erlang*:::message-*
{
	trace(args[0]);
}

erlang*:::gc_m*-*
{
	trace(args[1]);
}

erlang*:lists::
{
	trace(args[1]);
}

:::
{
	trace(args[0]);
}

:::*-end
{
	trace(args[1]);
}
