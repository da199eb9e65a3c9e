#pragma D option quiet


#pragma D option nspec=3

BEGIN
{
	a = speculation();
	b = speculation();
	c = speculation();
	printf("%d %d %d\n", a, b, c);
}
BEGIN { speculate(a); printf("a1 "); }
BEGIN { speculate(b); printf("b1 "); }
BEGIN { speculate(c); printf("c1 "); }
BEGIN { speculate(a); printf("a2 "); }
BEGIN { commit(c); }
BEGIN { discard(b); }
BEGIN { commit(a); }
BEGIN { printf("\n"); exit(0); }
