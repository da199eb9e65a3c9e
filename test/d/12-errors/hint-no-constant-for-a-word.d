/* ENODEV is near, but nobody means it; NULL is meant. */
BEGIN
{
	trace(quux);
	trace(null);
	trace(ENODEW);
}
