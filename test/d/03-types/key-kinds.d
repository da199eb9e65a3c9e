/* Keys are integers, enums, pointers, strings and structs. */
#pragma D option quiet
enum e { RED = 2 } c;
struct s { int a; char b; } v, w;
int arr[3];
BEGIN
{
	c = RED;
	v.a = 1;
	w.a = 1;
	m[1, c, &arr[1], "k", v] = 5;
	printf("%d %d %d\n", m[1, RED, arr + 1, "k", w], m[1, 2, &arr[2], "k", v], m[1, 2, arr + 1, "l", v]);
	w.b = 'x';
	printf("%d\n", m[1, RED, arr + 1, "k", w]);
	exit(0);
}
