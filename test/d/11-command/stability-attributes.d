#pragma D attributes Evolving/Private/ISA size
#pragma D attributes Standard/Standard/Common n

inline int size = 4;
int n;

BEGIN
{
	n = size;
	exit(0);
}
