/* Behind -> and . a keyword is a name like any other, and $N is what the argument says. */
#pragma D option quiet

BEGIN
{
	self->if = 1;
	this->sizeof = 2;
	self->string = 3;
	this->self = 4;
	self->probe = 5;
	self->$1 = 6;
	self->/* here too */while = 7;
	printf("%d %d %d %d %d %d %d\n", self->if, this->sizeof, self->string, this->self, self->probe, self->x, self->while);
	exit(0);
}
