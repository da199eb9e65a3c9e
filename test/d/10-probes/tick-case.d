#pragma D option quiet

uint64_t a, b;

profile:::tick-2MS
{
	a = 1;
}
tick-500Hz
{
	b = 1;
}
tick-3mSec
/a && b/
{
	printf("both\n");
	exit(0);
}
