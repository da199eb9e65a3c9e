#pragma D option zdefs

struct job { int size; };
typedef struct info { int bytes; char kind; } info_t;
translator info_t < struct job *j > { bytes = j->size * 512; };
provider shop {
	probe start(struct job *j, int n, char *who) : (int n, info_t *j, string who);
	probe whole(struct job j, long l[2]);
};

shop:::start
{
	trace(args[1]->kind);
}

shop:::start
{
	trace(args[1]->size);
}

shop:::start
{
	trace(args[3]);
}

shop:::start
{
	this->j = args[1];
}

shop:::whole
{
	trace(args[0].size);
}

shop:::s*, shop:::*
{
	trace(args[0]);
}
