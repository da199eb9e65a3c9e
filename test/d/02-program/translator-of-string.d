#pragma D option quiet

struct word { size_t length; char last; };
translator struct word < string s > {
	length = strlen(s);
	last = s[strlen(s) - 1];
};

BEGIN
{
	printf("%d %c\n", xlate <struct word> ("erlang").length, xlate <struct word> ("erlang").last);
	exit(0);
}
