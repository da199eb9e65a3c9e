#pragma D option quiet

BEGIN
{
	setopt("aggsortkey", "y");
	setopt("aggsortkey", "maybe");
	setopt("aggsortkey", "-1");
	setopt("aggsortkey", "1x");
	setopt("aggsortkey", "08");
	setopt("aggsortkey", "1.5");
	exit(0);
}
