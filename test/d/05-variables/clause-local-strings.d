#pragma D option quiet

BEGIN
{
	this->s = "first";
	this->t = this->s;
	this->s = "second";
	printf("%s %s\n", this->s, this->t);
	exit(0);
}
