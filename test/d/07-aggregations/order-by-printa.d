#pragma D option quiet

/* What is first in the text is first, whether it is used or not. */
BEGIN
/0/
{
	@z = sum(0);
	@y = sum(0);
}
BEGIN
{
	@x = sum(1);
	@y = sum(2);
	@z = sum(3);
}
BEGIN
{
	exit(0);
}
