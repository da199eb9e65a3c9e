BEGIN
{
	`printk("x");
}
