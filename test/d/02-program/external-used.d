int f(int);
extern int v;
BEGIN { trace(f(1)); }
BEGIN { trace(v); }
BEGIN { f = 1; }
BEGIN { v = 1; }
