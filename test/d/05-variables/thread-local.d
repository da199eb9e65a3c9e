#pragma D option quiet

BEGIN
{
	self->x = 5;
	self->s = "str";
	self->a[1, "k"] = 9;
	printf("%d %s %d %d\n", self->x, self->s, self->a[1, "k"], self->a[2, "k"]);
	self->x++;
	self->x *= 2;
	self->a[1, "k"]--;
	printf("%d %d\n", self->x, self->a[1, "k"]);
	self->x = 0;
	printf("%d\n", self->x);
	exit(0);
}
