#pragma D option quiet
#pragma D option strsize=64k
#pragma D option scratchsize=256k

struct large {
	string text;
	string more;
	int n;
};

struct twice {
	struct large a;
	struct large b;
};

translator struct large < int i > {
	text = "text";
	more = "more";
	n = i;
};

inline struct large made[int i] = xlate < struct large > (i);

BEGIN
{
	this->p = (struct large *)alloca(sizeof (struct large));
	this->p->n = 7;
	printf("%d %d %d\n", this->p->n, (*this->p).n, (&*this->p)->n);
	printf("%d %d\n", (char *)&this->p->n - (char *)this->p == offsetof(struct large, n), (uint64_t)(this->p + 1) - (uint64_t)this->p);
	printf("%d %d\n", sizeof (struct twice), offsetof(struct twice, b));
	printf("%s %d\n", made[3].more, made[4].n);
	exit(0);
}
