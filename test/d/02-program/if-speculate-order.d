BEGIN
{
	if (1) {
		trace(1);
		speculate(1);
	} else {
		commit(1);
		trace(2);
	}
}
