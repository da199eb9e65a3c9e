#pragma D option quiet
#pragma D option strsize=5
/* An array of characters is a string as a key. */

char n[6];

BEGIN
{
	n[0] = 'a';
	n[1] = 'b';
	@[n] = count();
	n[1] = '\x01';
	@[n] = count();
	exit(0);
}
