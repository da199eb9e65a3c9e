/* Enumerators are constants of the enum's type: known before the closing brace, usable as dimensions. */
#pragma D option quiet
enum { A, B, C = B + 5, D, E = -D, F = 'a' };
enum tag { G = sizeof (long), H = 1 << 4, I = 0x7fffffff, J = -0x7fffffff - 1 } v;
enum tag w;
int a[G];

BEGIN
{
	v = H;
	w = v;
	printf("%d %d %d %d %d %d\n", A, B, C, D, E, F);
	printf("%d %d %d %d\n", G, w, I, J);
	printf("%d %d %d\n", sizeof (a), sizeof (G), sizeof (enum tag));
	printf("%d %d\n", v == 16, (v + 1) / 2);
	exit(0);
}
