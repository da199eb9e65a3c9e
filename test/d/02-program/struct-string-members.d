/* A member of type string has as many bytes as a string, and behaves as one. */
#pragma D option quiet
#pragma D option strsize=20

struct named { int n; string name; char end; };
struct named v, w;
self struct named t;
struct named many[int];

BEGIN
{
	printf("%d %d %d\n", sizeof (struct named), offsetof (struct named, name),
	    offsetof (struct named, end));
	v.n = 7;
	v.name = "first";
	v.end = 'z';
	printf("%d %s %c\n", v.n, v.name, v.end);
	w = v;
	w.name = "second, which is cut to what fits";
	printf("%s|%s %c\n", v.name, w.name, w.end);
	self->t = v;
	self->t.name = strjoin(self->t.name, "!");
	many[1] = self->t;
	many[1].n++;
	printf("%s %d %c\n", many[1].name, many[1].n, many[1].end);
	printf("%d %d %d\n", v.name == "first", v.name < w.name, strlen(w.name));
	copy = v.name;
	printf("%s %d\n", copy, sizeof (v.name));
	exit(0);
}
