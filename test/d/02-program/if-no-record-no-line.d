/* Branches that record nothing, and empty ones, make no line; nor does the rest of the clause. */
BEGIN
{
	x = 1;
	if (x == 1)
		x = 2;
	else
		;
	if (x == 2) {
	} else {
		trace("not taken");
	}
	if (x == 2);
}
BEGIN
{
	exit(0);
}
