inline int first = args[0];
struct out { int v; };
translator struct out < int i > { v = args[0]; };

BEGIN
{
	exit(0);
}
