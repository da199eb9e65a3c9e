struct s { int a; } v;
struct t { int a; };
int arr[4];
BEGIN { x = (int)v; }
BEGIN { x = (struct s)1; }
BEGIN { x = (struct t)v; }
BEGIN { x = (int)"text"; }
BEGIN { x = (string)v; }
BEGIN { x = (string)arr; }
BEGIN { x = (int [4])arr; }
BEGIN { x = (struct nosuch)v; }
BEGIN { x = (nosuch)v; }
