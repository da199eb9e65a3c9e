#pragma D option quiet


inline string s = "{ \"a\": 1, \"b\": {\"c\": [10, \"x,]}\", {\"d\": true}], \"e\":null} , \"q\": \"say \\\"hi\\\"\", \"\": -2.5e3, \"a\": 9 }";

BEGIN
{
	printf("[%s]\n", json(s, "a"));
	printf("[%s]\n", json(s, "b.c[0]"));
	printf("[%s]\n", json(s, "b.c[1]"));
	printf("[%s]\n", json(s, "b.c[2]"));
	printf("[%s]\n", json(s, "b.c[2].d"));
	printf("[%s]\n", json(s, "b.e"));
	printf("[%s]\n", json(s, "b.c"));
	printf("[%s]\n", json(s, "q"));
	printf("[%s]\n", json("[1, [2, 3]]", "[1][0]"));
	printf("[%s]\n", json("[{\"k\":\"v\"}]", "[0].k"));
	printf("%d\n", strtoll(json(s, "b.c[0]")) + 1);
	exit(0);
}
