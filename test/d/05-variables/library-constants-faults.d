/* Each fault has a name. */
#pragma D option quiet

BEGIN
{
	n = 0;
	n = 1 / n;
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_DIVZERO);
	printf("%d %d %d %d %d %d\n", DTRACEFLT_UNKNOWN, DTRACEFLT_BADADDR, DTRACEFLT_BADALIGN,
	    DTRACEFLT_ILLOP, DTRACEFLT_NOSCRATCH, DTRACEFLT_KPRIV);
	printf("%d %d %d %d %d %d\n", DTRACEFLT_UPRIV, DTRACEFLT_TUPOFLOW, DTRACEFLT_BADSTACK,
	    DTRACEFLT_BADSIZE, DTRACEFLT_BADINDEX, DTRACEFLT_LIBRARY);
	printf("%d\n", DTRACEFLT_EVENTBUDGET);
	exit(0);
}
