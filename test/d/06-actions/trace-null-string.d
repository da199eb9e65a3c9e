BEGIN
{
	trace(self->s == NULL);
	self->s = "x";
	self->s = 0;
}
