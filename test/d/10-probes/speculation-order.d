#pragma D option quiet

/* Committed where commit() stands, in the order of recording. */
int sid;

tick-1ms
{
	sid = speculation();
}
tick-1ms
{
	speculate(sid);
	printf("s1 ");
}
tick-1ms
{
	printf("a ");
}
tick-1ms
{
	speculate(sid);
	printf("s2 ");
}
tick-1ms
{
	commit(sid);
}
tick-1ms
{
	printf("b\n");
	exit(0);
}
