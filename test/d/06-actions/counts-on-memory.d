BEGIN
{
	x = alloca();
	y = alloca(1, 2);
	z = copyin(1);
	v = copyinstr();
	w = copyinstr(1, 2, 3);
	copyinto(1, 2);
}
