#pragma D option quiet

BEGIN
{
	setopt("aggrate", "1ns");
	setopt("aggrate", "1nsec");
	setopt("aggrate", "1us");
	setopt("aggrate", "1usec");
	setopt("aggrate", "10ms");
	setopt("aggrate", "10msec");
	setopt("aggrate", "1s");
	setopt("aggrate", "1sec");
	setopt("aggrate", "1m");
	setopt("aggrate", "1min");
	setopt("aggrate", "1h");
	setopt("aggrate", "1hour");
	setopt("aggrate", "1d");
	setopt("aggrate", "1day");
	setopt("aggrate", "10hz");
	setopt("aggrate", "10HZ");
	setopt("aggrate", "5Ms");
	setopt("aggrate", "1SEC");
	setopt("aggrate", "1000000");
	setopt("aggrate", "0x10ns");
	setopt("aggrate", "1ms");
	printf("all\n");
	exit(0);
}
