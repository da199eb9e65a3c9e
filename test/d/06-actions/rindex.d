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
	exit(0);
}
