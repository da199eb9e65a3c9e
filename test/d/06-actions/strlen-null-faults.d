self string s;

BEGIN
{
	x = 1;
	x = strlen(self->s);
}
BEGIN
{
	trace(x);
	exit(0);
}
