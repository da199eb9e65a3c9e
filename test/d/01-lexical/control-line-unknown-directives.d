#include "x"
#if 1
#pragmatic
BEGIN
{
#undef x
	exit(0);
}
