/* Members of a structure can be used whatever its size; a copy, a key and a record of all of it have a bound. */
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

int keyed[struct large];
struct large kept;
inline int by_value[struct large l] = l.n;

BEGIN
{
	this->p = (struct large *)alloca(sizeof (struct large));
	trace(*this->p);
}

BEGIN
{
	this->q = (struct large *)alloca(sizeof (struct large));
	*this->q = *this->q;
}

BEGIN
{
	printf("%d", *(struct large *)arg0);
}

BEGIN
{
	@[*(struct large *)arg0] = count();
}

BEGIN
{
	print((struct large *)arg0);
}

BEGIN
{
	x = ((struct twice *)arg0)->a;
}
