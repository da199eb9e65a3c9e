#pragma D option quiet

BEGIN
{
	system("echo ran");
	exit(0);
}
