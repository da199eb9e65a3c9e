short w[5]; BEGIN
{
	printf("%ws", w);
}
