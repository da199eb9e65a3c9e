/* Memory from alloca() is writable however one gets to it. */
#pragma D option quiet
BEGIN
{
	*(this->p = (int *)alloca(8)) = 5;
	*(1 ? this->p : this->p + 1) += 1;
	*(0, this->p + 1) = 7;
	*&this->p[1] += 1;
	*++this->p += 2;
	printf("%d %d\n", this->p[-1], *this->p);
	exit(0);
}
