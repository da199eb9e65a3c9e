BEGIN
{
	trace(args);
}

BEGIN
{
	args[0] = 1;
}

BEGIN
{
	args = 1;
}

BEGIN
{
	args++;
}
