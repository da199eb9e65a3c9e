#pragma D option quiet


/* Each branch is a sub-clause with an order of its own. */
BEGIN
{
	printf("first\n");
	if (1) {
		speculate(1);
		printf("never: there is no speculation 1, and the clause ends\n");
	}
	printf("nor this\n");
}
BEGIN
{
	@a = count();
	if (1)
		commit(1);
	@a = count();
	exit(0);
}
