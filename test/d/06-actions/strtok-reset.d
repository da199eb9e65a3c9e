#pragma D option quiet


int n;

tick-1ms
/n++ == 0/
{
	printf("%s\n", strtok("a b", " "));
}
tick-1ms
/n == 2/
{
	printf("never: another firing: %s\n", strtok(NULL, " "));
}
tick-1ms
/n > 2/
{
	exit(0);
}
