#pragma D option quiet

typedef struct { string who; string what; int n; } info_t;
translator info_t < int i > {
	who = probename;
	what = i > 1 ? "many" : "one";
	n = i;
};
int count_of;
inline info_t *about = xlate <info_t *> (count_of);

BEGIN
{
	count_of = 2;
	@[about->who, about->what] = sum(about->n);
	printf("%s %s\n", about->who, strjoin(about->what, "!"));
	printf("%d\n", about->what == "many");
	printa("%s %s %@d\n", @);
	exit(0);
}
