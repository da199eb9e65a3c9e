#pragma D option quiet

typedef struct info { int id; } info_t;
translator info_t < int i > { id = i; };
int current;
inline info_t *curinfo = xlate <info_t *> (current);
inline info_t *me = curinfo;
inline int id_of[info_t *p] = p->id;

BEGIN
{
	current = 12;
	printf("%d %d\n", me->id, id_of[curinfo]);
	exit(0);
}
