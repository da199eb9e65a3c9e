int a, b[int];
#pragma D attributes stable/unstable/group a
#pragma D attributes External/STABLE/Common b

BEGIN
{
	b[1] = a++;
	exit(0);
}
