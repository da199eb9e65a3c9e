BEGIN
{
	trace(1);
}

END
{
	trace(2);
	self->x = stackdepth + 1;
}
