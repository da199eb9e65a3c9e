/* The translator that the provider's definition needs is newer than the version of the program. */
#pragma D option version=1.4
#pragma D option zdefs

shop*:::sold
{
	trace(args[1]);
}

shop*:::sold
{
	trace(args[0]->cents);
}
