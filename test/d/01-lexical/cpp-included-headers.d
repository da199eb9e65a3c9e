#include "guarded.h"
BEGIN
{
	exit(0);
}
