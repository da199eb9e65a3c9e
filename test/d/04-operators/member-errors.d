struct s { int count; int b; struct t { int size; } t; } v, *p;
int x;
struct nosuch *np;
BEGIN { y = v.cuont; }
BEGIN { y = p->siez; }
BEGIN { y = v->count; }
BEGIN { y = p.count; }
BEGIN { y = x.count; }
BEGIN { y = x->count; }
BEGIN { y = np->count; }
BEGIN { y = v.5; }
BEGIN { y = p->"count"; }
BEGIN { y = v.t.sise; }
