#pragma D attributes Private/Stable/Common n
int n;
int m[int];
#pragma D attributes Stable/Stable/CPU m

BEGIN
{
	n = 1;
	x = n + 1;
	m[1] = 2;
	y = 3;
}
