struct s { int a; } v;
int *p;
BEGIN { x = "a" * 2; }
BEGIN { x = v / 2; }
BEGIN { x = p * 2; }
BEGIN { x = 2 / p; }
BEGIN { x = v + 1; }
BEGIN { x = v - v; }
BEGIN { x = -v; }
BEGIN { x = +"a"; }
BEGIN { x = -p; }
BEGIN { x = (void)1 + 1; }
