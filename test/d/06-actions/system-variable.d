BEGIN
{
	system(probename);
}
