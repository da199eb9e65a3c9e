BEGIN
{
	x = `jiffies;
}
