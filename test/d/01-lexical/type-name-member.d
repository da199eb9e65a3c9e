#pragma D option quiet
struct s { int size_t; char uint8_t[2]; } v;
struct pid_t { int a; } w;

BEGIN
{
	v.size_t = 1;
	v.uint8_t[1] = 2;
	w.a = 3;
	self->size_t = 4;
	printf("%d %d %d %d %d\n", v.size_t, v.uint8_t[1], w.a, self->size_t, sizeof (size_t));
	printf("%d %d\n", sizeof (struct pid_t), sizeof (pid_t));
	exit(0);
}
