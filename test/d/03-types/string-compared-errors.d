int *ip;
struct t { int x; } v;
BEGIN { trace("a" == 1); }
BEGIN { trace(1 < "a"); }
BEGIN { trace("a" == ip); }
BEGIN { trace("a" == v); }
BEGIN { trace(arg0 == "a"); }
BEGIN { trace("a" == 'a'); }
