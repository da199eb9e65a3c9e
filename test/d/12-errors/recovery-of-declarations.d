int x
int y;
int a[;
struct s { int x int y; };
self int;
inline int z = ;
inline int = 5;
BEGIN { trace(one); }
enum e { A B };
struct t { int x; } v, 5, w;
BEGIN { trace(two); }
