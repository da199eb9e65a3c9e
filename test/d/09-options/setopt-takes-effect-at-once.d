#pragma D option quiet

BEGIN
{
	setopt("rawbytes");
	trace('a');
	setopt("rawbytes", "no");
	trace('a');
	exit(0);
}
