self string s;

BEGIN
{
	printf("before %s\n", self->s);
}
BEGIN
{
	exit(0);
}
