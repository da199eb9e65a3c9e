#pragma D option argref
BEGIN
{
	exit(0);
}
