/* The constant 0 fits a thread-local variable or an element of any type: it deletes. */
#pragma D option quiet
struct s { int a; };
self struct s t;
struct s m[int];
self int arr[3];
BEGIN
{
	self->t.a = 5;
	m[1].a = 6;
	self->arr[1] = 7;
	printf("%d %d %d\n", self->t.a, m[1].a, self->arr[1]);
	self->t = 0;
	m[1] = NULL;
	self->arr = 0;
	printf("%d %d %d\n", self->t.a, m[1].a, self->arr[1]);
	exit(0);
}
