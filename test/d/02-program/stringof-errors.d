struct s { int a; } v;
int i[4];
BEGIN { x = stringof(v); }
BEGIN { x = stringof(i); }
BEGIN { x = stringof((void)1); }
