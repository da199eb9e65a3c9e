#pragma D option quiet


BEGIN
{
	x = 3;
	if (x == 3)
		printf("three\n");
	else
		printf("other\n");
	if (x == 4) {
		printf("four\n");
	} else {
		printf("not four, ");
		printf("and in two parts\n");
	}
	if (x != 3)
		printf("never\n");
	printf("after\n");
	exit(0);
}
