/* What a translator's members rest on does not show; what is translated does. */
#pragma D attributes Private/Private/Unknown inner
#pragma D attributes Evolving/Stable/ISA input
int inner, input;
struct out { int v; };
translator struct out < int i > { v = i + inner; };
int later;

BEGIN
{
	later = xlate <struct out> (input).v;
	exit(0);
}
