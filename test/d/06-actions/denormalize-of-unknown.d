BEGIN
{
	denormalize(@never);
}
