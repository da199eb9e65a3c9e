#pragma D option quiet


BEGIN
{
	setopt("switchrate", "10hz");
	setopt("aggrate", "1ms");
	printf("set\n");
	exit(0);
}
