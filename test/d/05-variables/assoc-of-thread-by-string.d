self string names[int];

#pragma D option quiet

BEGIN
{
	self->names[3] = "three";
	self->names[4] = strjoin(self->names[3], "+1");
	printf("%s %s\n", self->names[3], self->names[4]);
	self->names[3] = 0;
	printf("%d\n", self->names[3] == NULL);
	exit(0);
}
