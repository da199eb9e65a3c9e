BEGIN
{
	x = 1; trace(uregs[x]);
}
