/* ENODEV is near, but nobody means it; NULL is meant. */
BEGIN
{
	trace(node);
	trace(null);
	trace(ENODEW);
}
