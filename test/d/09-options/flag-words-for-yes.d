#pragma D option quiet

/* Each makes the order that of the keys, 1 2; without, it is that of the values, 2 1. */
BEGIN
{
	@a[1] = sum(9);
	@a[2] = sum(5);
}
BEGIN
{
	setopt("aggsortkey", "yes");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "enable");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "enabled");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "true");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "on");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "set");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "1");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "0x2");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "07");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	setopt("aggsortkey", "0");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	exit(0);
}
