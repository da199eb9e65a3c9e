#pragma D option quiet

BEGIN
{
	setopt("switchrate", "1ms");
	setopt("aggrate", "1ms");
	setopt("aggsortkeypos", "1");
	setopt("aggsortpos", "1");
	setopt("aggsortrev");
	setopt("rawbytes", "no");
	setopt("quietresize");
	printf("all\n");
	exit(0);
}
