#pragma D option cpp=yes
BEGIN
{
	exit(0);
}
