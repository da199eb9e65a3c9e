enum color { RED, GREEN = 7 };
enum color c;

BEGIN
{
	c = GREEN;
	trace(c);
	trace(RED);
	exit(0);
}
