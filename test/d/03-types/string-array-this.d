this string s[2];
BEGIN
{
	this->s[1] = "x";
	i = 1;
	printf("%s %d %d\n", this->s[i], this->s[1] == "x", this->s[0] == "");
	exit(0);
}
