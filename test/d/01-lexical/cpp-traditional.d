#pragma D option quiet
#define GLUE(a, b) a/**/b

BEGIN
{
	printf("%d\n", GLUE(4,2));
	exit(0);
}
