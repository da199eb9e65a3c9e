/* Without room for a variable the rest of the clause is given up, and what it recorded; it is counted. */
#pragma D option quiet
#pragma D option dynvarsize=4k
#pragma D option statusrate=1hour
string filler[int];
int i, after;
tick-1ms
/i < 50/
{
	i++;
	filler[i] = "0123456789";
	after++;
}

tick-1ms
/i == 50/
{
	i = 100;
	@runs = count();
	printf("recorded only if the rest is run\n");
	filler[1000] = "0123456789";
	i = 0;
}

tick-1ms
/i == 100/
{
	printf("next clause %d %d %d\n", after > 0, after < 50, filler[1000] == NULL);
	printa("runs %@d\n", @runs);
	trunc(@runs);
	exit(0);
}
