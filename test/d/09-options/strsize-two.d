/* The least there can be: two characters and the NUL. */
#pragma D option quiet
#pragma D option strsize=2
string s;
BEGIN { s = "abc"; printf("%s %d %s %d\n", s, sizeof (s), strjoin("x", "yz"), strlen("abcd")); exit(0); }
