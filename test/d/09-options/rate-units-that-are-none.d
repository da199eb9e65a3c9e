#pragma D option quiet

BEGIN
{
	setopt("aggrate", "1.5s");
	setopt("aggrate", "fast");
	setopt("aggrate", "1fortnight");
	setopt("aggrate", "-1s");
	setopt("aggrate", "1 s");
	setopt("aggrate", "s");
	setopt("aggrate", "0hz");
	setopt("aggrate", "");
	setopt("aggrate", "10hertz");
	exit(0);
}
