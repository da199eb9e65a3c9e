/* A value that is no string, list or object ends at a blank, too. */
BEGIN
{
	printf("[%s]", json("{\"a\":1 , \"b\":true\n}", "a"));
	printf("[%s]", json("{\"a\":1 , \"b\":true\n}", "b"));
	printf("[%s]\n", json("[1, 22\t]", "[1]"));
	exit(0);
}
