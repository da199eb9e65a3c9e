#pragma D option quiet

BEGIN
{
	this->s = stringof("abc");
	printf("%s %s\n", this->s, stringof(this->s));
	exit(0);
}
