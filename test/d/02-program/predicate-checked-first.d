/* Only when the actions read what the predicate alone creates, it is checked before them. */
#pragma D option quiet
BEGIN
/(p = "made here") != NULL && q++ == 0/
{
	printf("%s %d\n", p, q);
	exit(0);
}
