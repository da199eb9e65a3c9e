#pragma D option quiet

BEGIN
{
	x = 0;
	y = 0;
	z = x && y++;
	z = 1 || y++;
	printf("%d\n", y);
	z = 1 && y++;
	z = x || y++;
	z = x ^^ y++;
	printf("%d\n", y);
	exit(0);
}
