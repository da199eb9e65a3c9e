/* A type's name that is assigned, indexed or stepped is a variable's; once it is one, it stays one. */
#pragma D option quiet

BEGIN
{
	size_t = 5;
	uint8_t++;
	--int8_t;
	pid_t[1] = 7;
}

BEGIN
{
	printf("%d %d %d %d\n", size_t + 1, (uint8_t), 0 - int8_t, pid_t[1]);
	exit(0);
}
