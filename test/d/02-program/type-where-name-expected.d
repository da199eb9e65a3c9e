int char;
int *uint8_t y;
self size_tt x;
int x y;
struct s { int short; };
int int_t z, w;
