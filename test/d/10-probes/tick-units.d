#pragma D option quiet

tick-1000hz, tick-2ms, tick-3000us, tick-4000000ns, tick-500
{
	seen[probename] = 1;
}
tick-5ms
/seen["tick-1000hz"] && seen["tick-2ms"] && seen["tick-3000us"] && seen["tick-4000000ns"] && seen["tick-500"]/
{
	printf("all\n");
	exit(0);
}
