#pragma D option quiet

BEGIN
{
	printf("%s|%10s|%-10s|%.2s|%6.2s|\n", "text", "text", "text", "text", "text");
	printf("%.0s|\n", "all");
	exit(0);
}
