#include "bad.h"

BEGIN
{
	exit(0);
}
