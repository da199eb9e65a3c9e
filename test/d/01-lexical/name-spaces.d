/* Aggregations, thread-local, clause-local variables and tags have name spaces of their own. */
#pragma D option quiet
struct pid { int strlen; };
struct pid v;
int s;
struct s { int s; };

BEGIN
{
	self->pid = 1;
	this->printf = 2;
	self->strlen = 3;
	@pid = sum(4);
	v.strlen = 5;
	s = 6;
	printf("%d %d %d %d %d\n", self->pid, this->printf, self->strlen, v.strlen, s);
	printa("%@d\n", @pid);
	trunc(@pid);
	exit(0);
}
