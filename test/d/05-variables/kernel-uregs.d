BEGIN
{
	trace(uregs[3]);
	exit(0);
}
