#pragma D option quiet

BEGIN
{
	self->t = "x";
	self->t = 0;
	printf("%d %d\n", self->t == NULL, self->t != NULL);
	printf("%d\n", self->t < "");
	exit(0);
}
