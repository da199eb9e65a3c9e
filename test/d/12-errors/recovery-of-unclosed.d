/* A } that is missing before a clause costs one error; those after it have their own. */
BEGIN
{
	x = 1;
	x = 2

tick-1sec
{
	trace(x);

tick-2sec /x == 1/
{
	this->y = x;
}

END { trace(1 2); trace(x); }
