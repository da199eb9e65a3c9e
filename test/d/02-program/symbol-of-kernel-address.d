BEGIN
{
	x = &`jiffies;
}
