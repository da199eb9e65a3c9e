#pragma D option quiet


BEGIN
{
	printf("%d\n", rindex("foobarbaz", "ba"));
	printf("%d\n", rindex("foofoofoo", "foo", 4));
	printf("%d\n", rindex("foobarbaz", "barbaz", 0));
	printf("%d\n", rindex("foobarbaz", "barbaz", 3));
	printf("%d\n", rindex("foo", ""));
	printf("%d\n", rindex("", ""));
	printf("%d\n", rindex("foo", "", 1));
	printf("%d\n", rindex("foo", "", 10));
	printf("%d\n", rindex("foo", "o", -1));
	printf("%d\n", rindex("foo", "", -1));
	printf("%d\n", rindex("foo", "o", 100));
	printf("%d\n", rindex("foo", "x"));
	printf("%d\n", rindex("", "x"));
	printf("%d\n", rindex("foo", "fooo"));
	printf("%d\n", rindex("foo", "f", 0));
	/* places that overlap, and bytes above 127 */
	printf("%d\n", rindex("abcabcabcab", "abcab"));
	printf("%d\n", rindex("abcabcabcab", "abcab", 5));
	printf("%d\n", rindex("aaaa", "aa"));
	printf("%d\n", rindex("aaaa", "aa", 1));
	printf("%d\n", rindex("\201\377\201\377", "\377\201"));
	printf("%d\n", rindex("abab", "abab"));
	printf("%d\n", rindex("abab", "baba"));
	exit(0);
}
