#pragma D option destructive

BEGIN
{
	freopen("%d");
	freopen("x", 1);
	freopen("%s", 1);
}
