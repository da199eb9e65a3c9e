struct out { int v; };
translator struct out < int i > { v = i; };

BEGIN
{
	trace(&xlate <struct out> (1).v);
}
