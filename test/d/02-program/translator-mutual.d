/* Translators that come to need each other, through a later one that fits better, end in an error. */
struct a { int x; };
struct b { int y; };
translator struct b < long l > { y = l; };
translator struct a < int i > { x = xlate <struct b> (i).y; };
translator struct b < int i > { y = xlate <struct a> (i).x; };

BEGIN
{
	trace(xlate <struct a> (1).x);
	exit(0);
}
