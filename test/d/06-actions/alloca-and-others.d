int a[4];
BEGIN
{
	p = (int *)alloca(8);
	p = &a[1];
}
