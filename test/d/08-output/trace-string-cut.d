#pragma D option strsize=4
BEGIN
{
	trace("abcdefgh");
	printf("|%s|%6s|%S", "abcdefgh", "abcdefgh", "abc\ndef");
	trace("");
	exit(0);
}
