/* Types of the program's own spaces may be scoped. */
#pragma D option quiet
typedef short mine;
struct pair { int a, b; };
int x;
BEGIN
{
	x = (D`int)3;
	this->m = (D`mine)0x10002;
	printf("%d %d %d %d", x, this->m, sizeof (C`long), sizeof (struct D`pair));
	printf(" %d %d\n", sizeof (D`uint64_t), (D`unsigned D`char)258);
	exit(0);
}
