int w[5];
BEGIN
{
	w[0] = 0x48; w[1] = 0xe9; w[2] = 0x20ac; w[3] = 0x1f600;
	printf("[%ls][%ws][%-5.1ls]\n", w, w, w);
	exit(0);
}
