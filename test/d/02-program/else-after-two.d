BEGIN
{
	if (1)
		trace(1);
		trace(2);
	else
		trace(3);
}
