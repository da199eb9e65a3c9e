BEGIN
{
	printf("%hd", (ushort_t)1);
}
