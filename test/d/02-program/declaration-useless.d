int;
self;
typedef int;
struct { int x; };
enum { ONE };
struct s;
unsigned long;
BEGIN { exit(0); }
