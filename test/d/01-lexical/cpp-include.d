#include "macros.h"
#pragma D option quiet

BEGIN
{
	GREET;
	exit(0);
}
