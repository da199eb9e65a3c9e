/* self x and this x are ints; x alone would be a probe description. */
#pragma D option quiet
self x;
this y;
self z, *p;
BEGIN
{
	self->x = 0x100000001;
	this->y = 0x100000002;
	self->z = -1;
	printf("%d %d %d %d %d\n", self->x, this->y, self->z, sizeof (self->x), sizeof (self->p));
	exit(0);
}
