int counter1;

BEGIN
{
	trace(countre1);
}
