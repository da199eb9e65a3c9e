/* the whole name of the node, the same at every event */
#pragma D option quiet
string first;

BEGIN
{
	first = node;
	printf("%d\n", strstr(node, "@") != NULL);
}

tick-1ms
/node == first/
{
	@[node == first ? "the same" : node] = count();
	exit(0);
}

tick-1ms
/node != first/
{
	printf("another: %s\n", node);
}
