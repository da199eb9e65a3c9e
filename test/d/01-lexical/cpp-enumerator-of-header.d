#include "enumerators.h"
BEGIN
{
	printf("%d %d\n", OF_HEADER, pid > 0);
	exit(0);
}
