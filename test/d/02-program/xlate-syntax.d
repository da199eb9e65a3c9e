struct out { int v; };

BEGIN
{
	trace(xlate (struct out) (1).v);
}

BEGIN
{
	trace(xlate <struct out> 1.v);
}
