BEGIN
{
	if (1) {
		trace(1);
	exit(0);
}

END { trace(2); }
