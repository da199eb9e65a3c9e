struct out { int v; };
translator struct out < int i > { };

BEGIN
{
	trace(xlate <struct out> (1).v);
	exit(0);
}
