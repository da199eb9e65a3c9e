BEGIN
{
	trace(xlate <struct out> (4).v);
	trace(NEW);
	trace(index("a", "b"));
}
