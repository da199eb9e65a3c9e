#pragma D option quiet


inline int sum3[int a, int b, int c] = a + b + c;
inline string greet[string who] = strjoin("hello ", who);
inline int twice[int a] = 2 * a;
inline uint8_t low[int x] = x;
inline int chars[char c] = c;

int n;
int a;

BEGIN
{
	a = 100;
	printf("%d %s %d\n", sum3[1, 2, 3], greet["world"], twice[twice[5]]);
	printf("%d %d\n", low[0x1234], chars[300]);
	printf("%d\n", sum3[a, a + 1, twice[a]]);
	n = twice[1 + 2] * 2;
	printf("%d\n", n);
	exit(0);
}
