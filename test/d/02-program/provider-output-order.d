#pragma D option quiet

struct job { int size; };
typedef struct jobinfo { int bytes; } jobinfo_t;
translator jobinfo_t < struct job *j > { bytes = j->size * 512; };
provider shop {
	probe start(struct job *j, char *who) : (string who, jobinfo_t *j, int *who2, char *who);
};

BEGIN { exit(0); }
