BEGIN
{
	if (1)
		x = 1;
	else
		trace(y);
	trace(x);
}
