#pragma D option quiet

BEGIN
{
	;;printf("a");;printf("b\n");;
	exit(0);
}
