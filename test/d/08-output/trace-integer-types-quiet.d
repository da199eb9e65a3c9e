#pragma D option quiet

BEGIN
{
	trace((int64_t)-1);
	trace(" ");
	trace((uint64_t)-1);
	trace(" ");
	trace((int32_t)-1);
	trace(" ");
	trace((uint32_t)-1);
	trace(" ");
	trace((int16_t)-1);
	trace(" ");
	trace((uint16_t)-1);
	trace(" ");
	trace((int8_t)-1);
	trace(" ");
	trace((uint8_t)-1);
	trace(" ");
	exit(0);
}
