#pragma D option quiet

/* An integer is an address as well. */
char n[4];

BEGIN
{
	n[0] = 'z';
	tracemem((uint64_t)&n[0], 2);
	exit(0);
}
