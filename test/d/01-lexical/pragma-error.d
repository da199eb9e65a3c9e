#pragma D error stop here
BEGIN
{
	exit(0);
}
