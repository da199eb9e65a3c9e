#pragma D option zdefs

syscall::read:entry
{
	trace(args[0]);
}

4711
{
	trace(args[0]);
}
