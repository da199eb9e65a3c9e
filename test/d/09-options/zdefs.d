#pragma D option zdefs

nosuch:::thing
{
	trace(1);
}
BEGIN
{
	exit(0);
}
