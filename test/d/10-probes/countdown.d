/* the countdown of the DTrace guide: a variable that clauses of one probe share, in the order of the text */
#pragma D option quiet

dtrace:::BEGIN
{
	i = 3;
}

profile:::tick-1ms
/i > 0/
{
	trace(i--);
	trace("\n");
}

profile:::tick-1ms
/i == 0/
{
	trace("blastoff!\n");
	exit(0);
}
