BEGIN
{
	a["k"] = 5;
	trace(a[1]);
}
