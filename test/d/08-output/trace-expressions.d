/* Nothing is promoted to int: the wider operand decides. */
short s;
unsigned char c;
long l;

BEGIN
{
	trace(s + c);
	trace(s + l);
	trace(s);
	trace(c);
	trace(!c);
	trace(s == c);
	exit(0);
}
