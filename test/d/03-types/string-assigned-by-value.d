#pragma D option quiet
string g;
BEGIN
{
	g = "first";
	self->t = g;
	a["k"] = self->t;
	this->c = a["k"];
	g = "second";
	self->t = strjoin(self->t, "+");
	a["k"] = "third";
	printf("%s %s %s %s\n", g, self->t, a["k"], this->c);
	exit(0);
}
