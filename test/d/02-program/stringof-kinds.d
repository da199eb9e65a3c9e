#pragma D option quiet
struct s { char n[8]; } v;
char *p;
BEGIN
{
	v.n[0] = 'a';
	v.n[1] = 'b';
	this->s = stringof v.n;
	printf("%s %s %s %d\n", this->s, stringof(probename), stringof ("x"), stringof v.n == "ab");
	p = v.n;
	printf("%s\n", stringof(p));
	printf("%s %s\n", stringof((uint64_t)&v.n[1]), (string)p);
	exit(0);
}
