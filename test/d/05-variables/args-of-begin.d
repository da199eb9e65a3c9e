BEGIN
{
	trace(args[0]);
}

tick-1s,
profile:::tick-1ms
{
	trace(args[0]);
}
