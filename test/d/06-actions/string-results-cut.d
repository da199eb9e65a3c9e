#pragma D option quiet
#pragma D option strsize=8

BEGIN
{
	printf("%s|%s|%s|%s\n", substr("abcdefghijkl", 2), toupper("abcdefghijkl"), strstr("abcdefghijkl", "gh"),
	    strtok("abcdefghijkl", "x"));
	exit(0);
}
