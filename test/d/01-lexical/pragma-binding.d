#pragma D option quiet


#pragma D binding "1.6.3" later
#pragma D binding "1.0" n

int n;
inline int later = 5;

#pragma D binding "255.4095.4095" later

BEGIN
{
	printf("%d\n", later);
	exit(0);
}
