#pragma D option quiet

dtrace:::BEG*
{
	n++;
}
dtrace:::[AB]EGIN
{
	n++;
}
:::BEGIN
{
	n++;
}
dtrace:::?EGIN
{
	n++;
}
dtrace:::BEGI[!M]
{
	n++;
	printf("%d\n", n);
	exit(0);
}
