#pragma D option quiet

BEGIN
{
	exit(1);
}
END
{
	exit(2);
	printf("a");
}
END
{
	printf("b");
	exit(5);
}
END
{
	printf("c\n");
}
