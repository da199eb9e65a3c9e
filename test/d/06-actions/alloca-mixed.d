int a[4];

BEGIN
{
	p = &a[0];
	p = (int *)alloca(8);
}
BEGIN
{
	self->q = (int *)alloca(8);
	self->q = &a[1];
}
