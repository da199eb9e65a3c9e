#!/usr/bin/env erltrace
#define ANSWER 42
#define SAY(x) printf("%s %d\n", #x, x)
#pragma D option quiet

BEGIN
{
	SAY(ANSWER);
	SAY(1 + 2);
#ifdef NOT_DEFINED
	printf("never\n");
#endif
	exit(0); // a comment of C99
}
