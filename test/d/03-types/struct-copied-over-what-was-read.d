/* What was read through a pointer is read again after the struct behind it was written: by its
 * name, through another pointer, by a member, by bcopy. */
struct text { char letters[8]; };
struct text g, h;
this struct text l, m;
char *c;

BEGIN
{
	g.letters[0] = 'a';
	h.letters[0] = 'b';
	h.letters[1] = 'b';
	c = &g.letters[0];
	printf("%s %d\n", stringof(c), strlen(stringof(c)));
	g = h;
	printf("%s %d\n", stringof(c), strlen(stringof(c)));
}

BEGIN
{
	this->p = (struct text *)alloca(sizeof (struct text));
	this->p->letters[0] = 'c';
	this->p->letters[1] = 0;
	this->c = &this->p->letters[0];
	printf("%s %d\n", stringof(this->c), strlen(stringof(this->c)));
	*this->p = h;
	printf("%s %d\n", stringof(this->c), strlen(stringof(this->c)));
	this->p->letters[1] = 'd';
	printf("%s %d\n", stringof(this->c), strlen(stringof(this->c)));
	bcopy("efg", this->p, 4);
	printf("%s %d\n", stringof(this->c), strlen(stringof(this->c)));
}

/* The length of a string is known from the first look until the struct that holds it is written. */
BEGIN
{
	this->l.letters[0] = 'a';
	this->m.letters[0] = 'b';
	this->m.letters[1] = 'b';
	this->at = (uint64_t)&this->l.letters[0];
	this->before = strlen(copyinstr(this->at));
	this->l = this->m;
	printf("%d %d\n", this->before, strlen(copyinstr(this->at)));
	exit(0);
}
