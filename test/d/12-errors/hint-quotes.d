BEGIN
{
	printf('x');
}
