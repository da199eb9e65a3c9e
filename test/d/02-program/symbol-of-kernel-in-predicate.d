BEGIN
/`jiffies > 5/
{
}
