#pragma D option quiet

typedef struct info { int id; char name[16]; } info_t;
translator info_t < long l > { id = l; name = l == 7 ? "seven" : "other"; };
long current;
inline info_t *curinfo = xlate <info_t *> (current);
inline info_t infos[int n] = xlate <info_t> (current + n);

BEGIN
{
	current = 7;
	printf("%d %s\n", curinfo->id, curinfo->name);
	current = 8;
	printf("%d %s\n", (*curinfo).id, curinfo->name);
	printf("%d %s\n", infos[-1].id, infos[-1].name);
	exit(0);
}
