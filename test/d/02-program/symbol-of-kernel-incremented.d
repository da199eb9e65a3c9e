BEGIN
{
	`jiffies++;
}
