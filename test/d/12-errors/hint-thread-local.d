BEGIN
{
	self->started = 1;
	trace(self->startd);
}
