#pragma D option quiet

int z;

BEGIN
/1 % z/
{
	printf("no\n");
}
BEGIN
{
	printf("next\n");
	exit(0);
}
