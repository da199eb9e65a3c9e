#pragma D option quiet

BEGIN
{
	printf("%.3d|%8.3d|%-8.3d|%.5x|%.1d|\n", 5, 5, 5, 255, 12345);
	printf("%.2s|%.9s|%6.3s|%-6.3s|\n", "text", "text", "text", "text");
	exit(0);
}
