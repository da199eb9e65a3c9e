#pragma D option quiet

BEGIN
{
	setopt("aggsize", "1m");
	setopt("strsize", "16");
	setopt("nspec", "2");
	setopt("dynvarsize", "1m");
	setopt("statusrate", "1s");
	setopt("bufpolicy", "ring");
	setopt("cpp", "1");
	setopt("argref", "1");
	exit(0);
}
