/* Each member access evaluates that member's expression only: the division of the other one does
 * not happen. */
#pragma D option quiet

struct two { int safe; int fatal; };
translator struct two < int i > { safe = i; fatal = 1 / i; };

BEGIN
{
	zero = 0;
	printf("%d\n", xlate <struct two> (zero).safe);
	printf("%d\n", xlate <struct two> (zero).fatal);
	exit(0);
}

ERROR
{
	printf("fault %d\n", arg4);
	exit(0);
}
