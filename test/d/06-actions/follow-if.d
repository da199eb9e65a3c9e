BEGIN
{
	if (arg0) {
		y = 1;
	} else {
		follow();
	}
}
