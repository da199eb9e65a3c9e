#pragma D option destructive

BEGIN
{
	system("true %d", 1);
	setopt("aggsortkey", "no");
	setopt("nope");
	ftruncate();
	exit(0);
}
