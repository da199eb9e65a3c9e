struct out { int v; };
translator struct out < int i > { v = i; };

BEGIN
{
	n = 1;
	xlate <struct out> (n).v = 2;
}
