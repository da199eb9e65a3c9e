BEGIN
/execname == "erltrace"/
{
	trace("it is us");
	exit(0);
}
BEGIN
/execname == "beam.smp"/
{
	trace("it is not");
}
