/* The order of the text counts, not that BEGIN comes first when it runs. */
END
{
	trace(total);
}

END
{
	trace(self->s);
	trace(this->t);
}

BEGIN
{
	total = 1;
	self->s = 1;
	this->t = 1;
}
