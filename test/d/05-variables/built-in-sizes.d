#pragma D option quiet
BEGIN
{
	printf("%d %d %d %d %d %d\n", sizeof (arg0), sizeof (arg9), sizeof (timestamp), sizeof (vtimestamp), sizeof (walltimestamp), sizeof (NULL));
	printf("%d %d %d %d %d %d\n", sizeof (pid), sizeof (ppid), sizeof (tid), sizeof (id), sizeof (errno), sizeof (uid));
	printf("%d %d %d %d %d\n", sizeof (probeprov), sizeof (probemod), sizeof (probefunc), sizeof (probename), sizeof (execname));
	printf("%d %d %d\n", sizeof (caller), sizeof (ucaller), sizeof (cpu));
	exit(0);
}
