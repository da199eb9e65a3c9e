#pragma D option quiet

/* Values keep their sign when they are widened. */
BEGIN
{
	@a = sum((char)-1);
	@b = sum((unsigned char)-1);
	@c = sum((unsigned int)-1);
	@d = max('a');
	exit(0);
}
