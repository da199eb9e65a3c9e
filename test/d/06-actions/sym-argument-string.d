BEGIN
{
	sym("main");
}
