unsigned void x;
BEGIN
{
	exit(0);
}
