/* A text that has no NUL in its area is none, whatever lies behind the area: memory of alloca(), or a text. The bytes up to a multiple of
 * 8 belong to the area, and later areas leave them alone. */
#pragma D option quiet

BEGIN
{
	this->a = (char *)alloca(8);
	bcopy("abcdefgh", this->a, 8);
	this->b = (char *)alloca(8);
	bcopy("ijk", this->b, 4);
	printf("%s is more than the area\n", stringof(this->a));
}

BEGIN
{
	this->a = (char *)alloca(8);
	bcopy("abcdefgh", this->a, 8);
	this->s = strjoin("some", lltostr(8));
	printf("%d\n", strlen(stringof(this->a)));
}

BEGIN
{
	this->a = (char *)alloca(5);
	bcopy("abcdefg", this->a, 8);
	this->b = (char *)alloca(8);
	this->b[0] = 'x';
	printf("%s is all\n", stringof(this->a));
	exit(0);
}
