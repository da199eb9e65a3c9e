/* Each that breaks a rule is reported. */
BEGIN
{
	commit(1);
	trace(1);
	speculate(1);
	@a = count();
}
