struct out { int v, w; };
translator struct out < int i > { v = i; };

BEGIN
{
	trace(xlate <struct out> (1).w);
}
