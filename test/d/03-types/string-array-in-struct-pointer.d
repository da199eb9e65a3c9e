struct s { string *names; };
string list[2];
BEGIN
{
	list[1] = "second";
	this->s = (struct s *)alloca(8);
	this->s->names = list;
	printf("%s\n", this->s->names[1]);
	exit(0);
}
