BEGIN
{
	denormalize(5);
}
