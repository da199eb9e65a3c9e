#pragma D option quiet

int z;

END
{
	trace(1 / z);
}
END
{
	printf("end\n");
}
BEGIN
{
	exit(0);
}
