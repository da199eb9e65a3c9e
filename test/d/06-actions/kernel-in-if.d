BEGIN
{
	if (pid > 0) {
		trace(1);
	} else {
		ustack();
	}
}
