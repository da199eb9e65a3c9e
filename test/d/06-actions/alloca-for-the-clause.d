#pragma D option quiet

/* What one clause takes the next has again. */
BEGIN
{
	this->n = 200;
	this->a = alloca(this->n);
	printf("one\n");
}
BEGIN
{
	this->n = 200;
	this->a = alloca(this->n);
	printf("two\n");
}
BEGIN
{
	exit(0);
}
