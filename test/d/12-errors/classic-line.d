/* one
   two */
BEGIN
{
	x = y;
}
