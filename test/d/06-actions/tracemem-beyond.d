#pragma D option quiet

/* Nothing of a clause whose memory ends too early. */
char n[4];

BEGIN
{
	this->p = (char *)alloca(8);
	printf("never\n");
	tracemem(this->p + 4, 300);
}
BEGIN
{
	exit(0);
}
