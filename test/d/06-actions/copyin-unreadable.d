#pragma D option quiet

BEGIN
{
	x = copyin(0, 4);
}
BEGIN
{
	x = copyin(16, 4);
}
BEGIN
{
	copyinto(8, 4, alloca(8));
}
BEGIN
{
	y = copyinstr(24, 8);
}
BEGIN
{
	exit(0);
}
