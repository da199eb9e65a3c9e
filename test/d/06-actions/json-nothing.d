#pragma D option quiet


inline string s = "{ \"a\": 1, \"b\": {\"c\": [10, \"x,]}\", {\"d\": true}], \"e\":null} , \"q\": \"say \\\"hi\\\"\", \"\": -2.5e3, \"a\": 9 }";

BEGIN
{
	printf("%d\n", json(s, "z") == NULL);
	printf("%d\n", json(s, "a.b") == NULL);
	printf("%d\n", json(s, "b.c[3]") == NULL);
	printf("%d\n", json(s, "b[0]") == NULL);
	printf("%d\n", json(s, "") == NULL);
	printf("%d\n", json(s, "b.") == NULL);
	printf("%d\n", json(s, "b.c[") == NULL);
	printf("%d\n", json(s, "b.c[x]") == NULL);
	printf("%d\n", json(s, "b.c[]") == NULL);
	printf("%d\n", json("", "a") == NULL);
	printf("%d\n", json("{", "a") == NULL);
	printf("%d\n", json("{\"a\":", "a") == NULL);
	printf("%d\n", json("{\"a\":\"open", "a") == NULL);
	printf("%d\n", json("{\"a\":[1,2", "a") == NULL);
	printf("%d\n", json("[]", "[0]") == NULL);
	printf("%d\n", json("[1,]", "[1]") == NULL);
	printf("%d\n", json("{\"a\" 1}", "a") == NULL);
	printf("%d\n", json("plain", "a") == NULL);
	printf("%d\n", json("{\"a\\", "a") == NULL);
	exit(0);
}
