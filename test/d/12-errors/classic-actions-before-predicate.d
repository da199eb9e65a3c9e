BEGIN
/pred/
{
	x = act;
}
