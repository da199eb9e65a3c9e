#pragma D attributes Unstable/Unstable/Common five
inline int five = 5;

BEGIN
{
	x = five;
}
