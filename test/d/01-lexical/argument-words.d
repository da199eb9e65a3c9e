/* An argument of letters, digits and _ stands for itself: a name, a type, a function, a keyword. */
#pragma D option quiet

BEGIN
{
	$4->$5 = sizeof ($2);
	$3("%s %d %d\n", $1, self->x, sizeof ($6));
	exit(0);
}
