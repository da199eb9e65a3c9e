#pragma D option quiet

int z;

BEGIN
{
	trace(1 / z);
}
ERROR
{
	exit(6);
}
END
{
	printf("end\n");
}
