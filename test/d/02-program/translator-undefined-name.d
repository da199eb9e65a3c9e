struct out { int v, w; };
translator struct out < int i > { v = j; w = i; };

BEGIN
{
	trace(xlate <struct out> (1).v);
	trace(xlate <struct out> (1).w);
}
