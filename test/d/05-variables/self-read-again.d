/* A thread-local variable that is read again in a clause has what the clause stored meanwhile, and each variable its own. */
#pragma D option quiet
BEGIN
{
	self->a = 3;
	self->b = 5;
}

BEGIN
/self->a == 3 && self->a == 3/
{
	printf("%d %d %d", self->a, self->b, self->a);
	self->a = 7;
	printf(" %d", self->a);
	self->a += 4;
	printf(" %d", self->a);
	self->a++;
	printf(" %d", self->a);
	self->a = 0;
	printf(" %d\n", self->a);
}

BEGIN
{
	printf("%d %d\n", self->a, self->b);
	exit(0);
}
