self string s[2];
BEGIN
{
	self->s[1] = "one";
	self->s[0] = "nought";
	printf("%s %s %s\n", self->s[0], self->s[1], substr(self->s[1], 1));
	self->s = 0;
	printf("[%s]\n", self->s[1]);
	exit(0);
}
