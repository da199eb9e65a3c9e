#pragma D option quiet
#pragma D option zdefs

struct job { int size; };
typedef struct info { int bytes; char kind; } info_t;
translator info_t < struct job *j > { bytes = j->size * 512; };
provider shop {
	probe start(struct job *j, int n, char *who) : (int n, info_t *j, string who);
	probe raw(struct job *j);
};

shop$target:::start
/args[2] == "me" && args[1]->bytes > 1/
{
	trace(args[0]);
	@[args[2]] = sum(args[1]->bytes);
}

shop:::raw
{
	trace(args[0]->size);
}

BEGIN { printf("fine\n"); exit(0); }
