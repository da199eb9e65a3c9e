#pragma D option quiet
/* C layout for LP64: each member at a multiple of its alignment, the whole padded to the largest */
struct a { char c; short s; char d; int i; char e; long l; char f; };
struct b { char c; struct a in; };
union u { char c[5]; int i; short s; };
struct p { char c; void *p; };
struct e { };
BEGIN
{
	printf("%d %d %d %d %d %d %d %d\n", sizeof (struct a), offsetof(struct a, s), offsetof(struct a, d),
	    offsetof(struct a, i), offsetof(struct a, e), offsetof(struct a, l), offsetof(struct a, f),
	    offsetof(struct a, c));
	printf("%d %d\n", sizeof (struct b), offsetof(struct b, in));
	printf("%d %d\n", sizeof (union u), offsetof(union u, s));
	printf("%d %d\n", sizeof (struct p), offsetof(struct p, p));
	printf("%d %d %d\n", sizeof (struct a [3]), sizeof (struct a *), sizeof (char [7]));
	printf("%d\n", sizeof (struct e));
	exit(0);
}
