#pragma D attributes Private/Stable/Common provider dtrace name
#pragma D attributes Stable/External/ISA provider dtrace function

BEGIN
{
	exit(0);
}
