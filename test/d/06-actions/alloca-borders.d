#pragma D option quiet

BEGIN
{
	this->a = (char *)alloca(16);
	this->b = (char *)alloca(16);
	this->a[15] = 'x';
	this->b[0] = 'y';
	bcopy(this->a + 8, this->b + 8, 8);
	printf("inside %c%c\n", this->b[15], this->b[0]);
}

/* Past the end of an area, which another one follows; and from before it. */
BEGIN
{
	this->a = (char *)alloca(16);
	this->b = (char *)alloca(16);
	bcopy(this->b, this->a + 8, 9);
	printf("written beyond\n");
}

BEGIN
{
	this->a = (char *)alloca(16);
	this->b = (char *)alloca(16);
	bcopy(this->a + 1, this->b, 16);
	printf("read beyond\n");
}

BEGIN
{
	this->a = (char *)alloca(16);
	this->s = strjoin("a text behind ", "the area");
	bcopy(this->a + 8, this->a, 16);
	printf("read a text, too\n");
}

BEGIN
{
	this->a = (char *)alloca(16);
	this->b = (char *)copyin((uintptr_t)this->a, 8);
	copyinto((uintptr_t)this->a, 16, this->b);
	printf("written beyond a copy\n");
}

/* Borders of other clauses are none here. */
BEGIN
{
	this->a = (char *)alloca(160);
	bcopy(this->a, this->a + 80, 80);
	printf("one area\n");
	exit(0);
}
