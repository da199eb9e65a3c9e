/* A tag that is never defined can be pointed to, and nothing else. */
struct s *p;
struct s v;
struct s a[2];
BEGIN { trace(p->x); }
BEGIN { trace(sizeof (struct s)); }
BEGIN { q = p; trace(*q); }
BEGIN { p++; }
enum e w;
typedef struct s t;
t z;
