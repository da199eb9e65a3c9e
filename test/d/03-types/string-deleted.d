#pragma D option quiet
BEGIN
{
	g = "g";
	self->t = "t";
	a[1] = "a";
	g = NULL;
	self->t = NULL;
	a[1] = NULL;
	printf("%d %d %d\n", g == NULL, self->t == NULL, a[1] == NULL);
	self->t = "again";
	a[1] = "too";
	self->t = 0;
	a[1] = 0;
	printf("%d %d\n", self->t == NULL, a[1] == NULL);
	exit(0);
}
