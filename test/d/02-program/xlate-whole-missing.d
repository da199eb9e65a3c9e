struct out { int v; int w; };
translator struct out < int i > { v = i; };

BEGIN
{
	trace(xlate <struct out> (1).v);
	x = xlate <struct out> (1);
}
