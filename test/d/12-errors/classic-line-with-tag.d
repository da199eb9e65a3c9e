BEGIN
{
	self->a = 1;
	x = self->b;
}
