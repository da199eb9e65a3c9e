string s[2];
BEGIN
{
	s[1] = "there";
	this->p = &s[1];
	printf("%s %s\n", *this->p, this->p[0]);
	exit(0);
}
