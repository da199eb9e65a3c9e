#pragma D option errform=dtrace
#pragma D option errtags
BEGIN
{
	x = y;
}
