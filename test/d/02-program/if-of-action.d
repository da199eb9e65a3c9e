BEGIN
{
	if (trace(1)) trace(2);
	if (1) trace(nothing);
}
