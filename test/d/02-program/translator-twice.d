struct out { int v; };
typedef struct out out_t;
translator struct out < int i > { v = i; };
translator struct out < unsigned int i > { v = i; };
translator out_t < int j > { v = 2; };
BEGIN { exit(0); }
