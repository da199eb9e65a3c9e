BEGIN
{
	if ("abc") trace(1);
	if (probename = 1) trace(2);
}
