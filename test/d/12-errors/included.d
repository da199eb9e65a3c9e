#include "classic-included.inc"

BEGIN
{
	trace(other);
}
