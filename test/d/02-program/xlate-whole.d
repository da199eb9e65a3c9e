struct out { int v; };
translator struct out < int i > { v = i; };

BEGIN
{
	x = xlate <struct out> (1);
}

BEGIN
{
	trace(xlate <struct out *> (1));
}

BEGIN
/xlate <struct out *> (1) != NULL/
{
	trace(1);
}
