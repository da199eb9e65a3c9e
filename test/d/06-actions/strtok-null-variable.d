#pragma D option quiet


self string s;

BEGIN
{
	this->t = strtok("a b", " ");
}
BEGIN
{
	printf("never %s\n", strtok(self->s, " "));
}
BEGIN
{
	printf("never %s\n", strtok("a b", self->s));
}
BEGIN
{
	exit(0);
}
