#pragma D option quiet

BEGIN
{
	trace(1);
	trace(" ");
	trace(-5L);
	trace(" ");
	trace("text");
	trace("\n");
	exit(0);
}
