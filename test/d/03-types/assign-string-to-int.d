int x;
BEGIN
{
	x = "text";
}
