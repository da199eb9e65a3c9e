inline int BEFORE = 1;

BEGIN
{
	trace(1);
}
