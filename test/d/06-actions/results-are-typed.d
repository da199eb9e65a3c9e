/* What each subroutine gives is as wide and as signed as its prototype says. */
BEGIN
{
	trace(strlen("abc"));
	trace(index("a", "b"));
	trace(strtoll("5"));
	trace(htons(1));
	trace(htonl(1));
	trace(htonll(1));
	trace(speculation());
	exit(0);
}
