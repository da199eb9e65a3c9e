#pragma D option quiet


BEGIN
{
	printf("%d\n", index("foobarbaz", "ba"));
	printf("%d\n", index("foobarbaz", "ba", 4));
	printf("%d\n", index("foobarbaz", "ba", 7));
	printf("%d\n", index("foo", "f", -5));
	printf("%d\n", index("foo", "x"));
	printf("%d\n", index("foo", ""));
	printf("%d\n", index("foo", "", 2));
	printf("%d\n", index("foo", "", 3));
	printf("%d\n", index("foo", "", 4));
	printf("%d\n", index("", "x"));
	printf("%d\n", index("", ""));
	printf("%d\n", index("foo", "o", 100));
	printf("%d\n", index("foo", "foo"));
	printf("%d\n", index("foo", "fooo"));
	printf("%d\n", index("foo", "f", 0x100000000));
	exit(0);
}
