#include "types.h"
#include "types.h"
BEGIN
{
	exit(0);
}
