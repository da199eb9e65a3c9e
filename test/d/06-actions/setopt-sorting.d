#pragma D option quiet


BEGIN
{
	@a[1] = sum(5);
	@a[2] = sum(3);
	@a[3] = sum(4);
	printa("%d", @a);
	setopt("aggsortkey");
	printa("%d", @a);
	setopt("aggsortrev", "yes");
	printa("%d", @a);
	setopt("aggsortkey", "no");
	printa("%d", @a);
	printf("\n");
	exit(0);
}
