#pragma D option quiet
#define N 5

BEGIN
{
	trace(N);
	exit(0);
}
