#pragma D option quiet


int i;

tick-1ms
{
	if (i & 1) {
		if (i & 2)
			printf("%d both\n", i);
		else
			printf("%d first\n", i);
	} else {
		if (i & 2) {
			printf("%d second\n", i);
		}
	}
	if (i == 4)
		exit(0);
	i++;
}
