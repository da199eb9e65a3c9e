/* What the version has cannot be a name of the program's. */
BEGIN
{
	index = 78;
	NEW = 77;
	before = 76;
}
