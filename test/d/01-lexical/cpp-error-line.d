#define THREE_LINES 1
#define MORE

BEGIN
{
	x = nothing + THREE_LINES;
}
