#include "classic-included.inc"

BEGIN
{
	exit(0);
}
