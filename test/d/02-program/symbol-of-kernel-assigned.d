BEGIN
{
	`jiffies = 5;
}
