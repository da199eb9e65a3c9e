#pragma D option quiet
#include "macros.h"

BEGIN
{
	GREET;
	printf("%d %d\n", ONE, TWO);
#ifdef GONE
	printf("never\n");
#endif
	exit(0);
}
