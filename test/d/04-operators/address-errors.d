struct s { int a; int b:3; } v;
int x;
int arr[2];
BEGIN { @a = count(); }
BEGIN { y = &x; }
BEGIN { y = &self->t; self->t = 1; }
BEGIN { y = &pid; }
BEGIN { y = &v; }
BEGIN { y = &arr; }
BEGIN { y = &v.b; }
BEGIN { y = &5; }
BEGIN { y = &(v.a + 1); }
BEGIN { y = &@a; }
BEGIN { m[1] = 1; y = &m[1]; }
