BEGIN
{
	chill("1s");
}
