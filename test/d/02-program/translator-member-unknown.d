struct out { int v; };
translator struct out < int i > { nope = i; };
translator struct out < string s > { v = 1; };

BEGIN
{
	trace(xlate <struct out> ("x").nope);
}
