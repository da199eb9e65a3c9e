#pragma D option quiet
#pragma D option longgc=5ms
#pragma D option longschedule=20ms
#pragma D option largeheap=1m
#pragma D option longqueue=100
#pragma D option pollrate=2hz

BEGIN
{
	printf("accepted\n");
	exit(0);
}
