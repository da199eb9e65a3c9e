BEGIN
{
	uregs[1] = 0;
}
