#pragma D option quiet

union value { int number; char first; };
translator union value < int i > { number = i; first = i & 0xff; };

BEGIN
{
	n = 0x4142;
	printf("%d %c\n", xlate <union value> (n).number, xlate <union value *> (n)->first);
	exit(0);
}
