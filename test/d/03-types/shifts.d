/* Counts are modulo 64; >> keeps the sign of a signed operand, but not of a constant. */
#pragma D option quiet

BEGIN
{
	this->n = 65;
	this->m = -8;
	this->l = (long)1;
	printf("%d %d %d\n", this->l << this->n, this->m >> 1, (unsigned)this->m >> 28);
	printf("%d\n", -8L >> 1);
	exit(0);
}
