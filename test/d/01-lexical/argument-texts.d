/* Anything else is a string; a pair of quotes around it goes, escapes are carried out. */
#pragma D option quiet

BEGIN
{
	printf("%s|%s|%s|%s|%s|%s|%s|%s|\n", $1, $2, $3, $4, $5, $6, $7, $8);
	printf("%s|%s|%s|%s|%s|%s|%s|%s|\n", $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8);
	exit(0);
}
