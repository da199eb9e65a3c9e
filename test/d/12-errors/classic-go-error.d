/* What is no compile error has no envelope. */
BEGIN
{
	system("true");
}
