#error  one   two
#pragma error three "four five"
#pragma D error six
#error
BEGIN
{
	exit(0);
}
