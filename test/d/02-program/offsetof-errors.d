struct s { int a; struct t { int c; } t; int b:3; };
BEGIN { x = offsetof(int, a); }
BEGIN { x = offsetof(struct s, nosuch); }
BEGIN { x = offsetof(struct s, b); }
BEGIN { x = offsetof(struct s, t.c); }
BEGIN { x = offsetof(struct nosuch, a); }
BEGIN { x = offsetof(struct s *, a); }
BEGIN { x = offsetof(struct s); }
BEGIN { x = offsetof(struct s, 5); }
