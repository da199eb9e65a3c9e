BEGIN
{
	a = alloca("x");
	b = copyin("x", 4);
	c = copyinstr("x");
	d = copyinstr(1, "x");
	bcopy("x", 5, 1);
	bcopy(5, alloca(8), 1);
	copyinto(1, 1, 1);
}
