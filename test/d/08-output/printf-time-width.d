#pragma D option quiet

BEGIN
{
	printf("[%24Y]\n[%-24Y]\n", 1062584603000000000, 1062584603000000000);
	exit(0);
}
