/* The data of BEGIN is printed first, also when something else fired in the midst of it. */
int z;

ERROR
{
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	exit(0);
}
