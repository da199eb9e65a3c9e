#pragma D option quiet

BEGIN
{
	@a[1] = sum(9);
	@a[2] = sum(5);
}
BEGIN
{
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "no");
	printa("%d", @a);
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "disable");
	printa("%d", @a);
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "disabled");
	printa("%d", @a);
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "false");
	printa("%d", @a);
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "off");
	printa("%d", @a);
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "unset");
	printa("%d", @a);
	setopt("aggsortkey", "yes");
	setopt("aggsortkey", "");
	printa("%d", @a);
	exit(0);
}
