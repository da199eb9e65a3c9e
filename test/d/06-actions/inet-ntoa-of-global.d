uchar_t g[4];
BEGIN
{
	g[0] = 127; g[1] = 0; g[2] = 0; g[3] = 1;
	printf("%s\n", inet_ntoa(g));
	exit(0);
}
