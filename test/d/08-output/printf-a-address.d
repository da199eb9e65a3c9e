/* where nothing is known of an address, it is shown as it is */
BEGIN
{
	printf("[%a][%20a][%-8a][%a]\n", 0x1234, 0x5678, 0xff, (void *)0xabc);
	exit(0);
}
