#pragma D option quiet

/* The consumer clears when it reaches the record: what came in meanwhile is cleared as well. */
BEGIN
{
	@ = sum(1);
	clear(@);
	@ = sum(5);
	exit(0);
}
