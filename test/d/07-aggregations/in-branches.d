#pragma D option quiet

int n;

BEGIN
{
	n = 5;
	if (n > 3)
		@["big"] = count();
	else
		@["small"] = count();
	if (n > 7) {
		@["huge"] = count();
	}
	exit(0);
}
