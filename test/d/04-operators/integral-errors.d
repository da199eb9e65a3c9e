struct s { int a; } v;
int *p;
BEGIN { x = "a" % 2; }
BEGIN { x = p % 2; }
BEGIN { x = 1 & "a"; }
BEGIN { x = p | 1; }
BEGIN { x = v ^ 1; }
BEGIN { x = ~"a"; }
BEGIN { x = ~p; }
BEGIN { x = 1 << "a"; }
BEGIN { x = p >> 1; }
BEGIN { y = 1; y &= "a"; }
