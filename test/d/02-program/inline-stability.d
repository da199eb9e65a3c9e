/* An inline with attributes of its own has those, not those of what it is made of. */
#pragma D option quiet
#pragma D attributes Private/Private/Unknown inner
int inner;
inline int plain = inner;
#pragma D attributes Stable/Stable/Common given
inline int given = inner;

BEGIN
{
	x = given;
	y = plain;
	exit(0);
}
