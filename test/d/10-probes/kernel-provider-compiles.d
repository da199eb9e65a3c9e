syscall::read:entry
/execname == "beam.smp"/
{
	self->t = timestamp;
	@[ustack()] = count();
}
BEGIN
{
	exit(0);
}
