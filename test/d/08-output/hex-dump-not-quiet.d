char n[2];

BEGIN
{
	n[0] = 'h';
	tracemem(n, 2);
	trace(5);
	exit(0);
}
