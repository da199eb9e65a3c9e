BEGIN
{
	if (1)
		printf("%d\n", "text");
	else if (2)
		printf("%s\n");
	else
		printa(@nothing);
}
