#pragma D option quiet

inline string s = "{\"t\": true, \"n\": null, \"x\": -1.5e3, \"o\": {\"k\": 1}, \"a\": [1, [2]], \"s\": \"\"}";

BEGIN
{
	printf("[%s]", json(s, "t"));
	printf("[%s]", json(s, "n"));
	printf("[%s]", json(s, "x"));
	printf("[%s]", json(s, "o"));
	printf("[%s]", json(s, "a"));
	printf("[%s]", json(s, "a[1]"));
	printf("[%s]", json(s, "a[1][0]"));
	printf("[%s]\n", json(s, "s"));
	exit(0);
}
