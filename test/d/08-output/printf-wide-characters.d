/* a field counts bytes */
BEGIN
{
	printf("[%lc][%wc][%4lc]\n", 65, 0xe9, 0x20ac);
	exit(0);
}
